import { readFileSync } from 'node:fs';
import { create } from 'fontkit';

/** A font of a PDF, in the two weights of a document. */
export const fontNames = ['latin', 'arabic', 'hebrew', 'chinese', 'korean'] as const;
export type FontName = (typeof fontNames)[number];
export type Weight = 'regular' | 'bold';

const packageOf = (path: string): string =>
  new URL(import.meta.resolve(`@embedpdf/fonts-${path.split('/')[0]}`)).href.replace(
    /dist\/[^/]*$/,
    `fonts/${path.split('/')[1]}`,
  );

/** Latin letters with Greek, Cyrillic and Devanagari and the signs of currencies first: a later font draws what no earlier one has. */
const files: Readonly<Record<FontName, Readonly<Record<Weight, string>>>> = {
  latin: { regular: 'latin/NotoSans-Regular.ttf', bold: 'latin/NotoSans-SemiBold.ttf' },
  arabic: { regular: 'arabic/NotoNaskhArabic-Regular.ttf', bold: 'arabic/NotoNaskhArabic-Bold.ttf' },
  hebrew: { regular: 'hebrew/NotoSansHebrew-Regular.ttf', bold: 'hebrew/NotoSansHebrew-Bold.ttf' },
  // Han characters of China, Taiwan and Japan, and kana. One weight: each of its files has more than 8 MB.
  chinese: { regular: 'sc/NotoSansHans-Regular.otf', bold: 'sc/NotoSansHans-Regular.otf' },
  korean: { regular: 'kr/NotoSansKR-Regular.otf', bold: 'kr/NotoSansKR-Regular.otf' },
};

const bytes = new Map<string, Buffer>();

/** The file of a font, read when it is needed first and kept from then on. */
export function fontFile(name: FontName, weight: Weight): Buffer {
  const path = files[name][weight];
  const known = bytes.get(path);
  if (known) return known;
  const read = readFileSync(new URL(packageOf(path)));
  bytes.set(path, read);
  return read;
}

const covered = new Map<FontName, ReadonlySet<number>>();

/** The characters that a font draws. */
function charactersOf(name: FontName): ReadonlySet<number> {
  const known = covered.get(name);
  if (known) return known;
  const font = create(fontFile(name, 'regular'));
  const characters = new Set('characterSet' in font ? font.characterSet : []);
  covered.set(name, characters);
  return characters;
}

/** The first font that draws a character; null where none does. */
export const fontFor = (character: string): FontName | null =>
  fontNames.find((name) => charactersOf(name).has(character.codePointAt(0) ?? 0)) ?? null;
