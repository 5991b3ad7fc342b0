import { readFileSync } from 'node:fs';
import { invariant } from '@counterfoil/kernel';
import { create, type Font } from 'fontkit';

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
  arabic: {
    regular: 'arabic/NotoNaskhArabic-Regular.ttf',
    bold: 'arabic/NotoNaskhArabic-Bold.ttf',
  },
  hebrew: { regular: 'hebrew/NotoSansHebrew-Regular.ttf', bold: 'hebrew/NotoSansHebrew-Bold.ttf' },
  // Han characters of China, Taiwan and Japan, and kana. One weight: each of its files has more than 8 MB.
  chinese: { regular: 'sc/NotoSansHans-Regular.otf', bold: 'sc/NotoSansHans-Regular.otf' },
  korean: { regular: 'kr/NotoSansKR-Regular.otf', bold: 'kr/NotoSansKR-Regular.otf' },
};

const opened = new Map<string, Font>();

/**
 * A font, opened when it is needed first and kept from then on: its tables are read once, not for each document. What
 * a document takes of it is its own.
 */
export function fontOf(name: FontName, weight: Weight): Font {
  const path = files[name][weight];
  const known = opened.get(path);
  if (known) return known;
  const font = create(readFileSync(new URL(packageOf(path))));
  invariant('layout' in font, `${path} is not one font`);
  opened.set(path, font);
  return font;
}

/** The first font that draws a character; null where none does. */
export const fontFor = (character: string): FontName | null =>
  fontNames.find((name) =>
    fontOf(name, 'regular').hasGlyphForCodePoint(character.codePointAt(0) ?? 0),
  ) ?? null;
