import { type FontName, fontFor } from './fonts.ts';

/** A piece of a line that is drawn at once: characters of one font, in one direction. */
export interface Run {
  readonly font: FontName;
  readonly text: string;
}

/** Characters that would change a line without being seen, among them those that reverse what follows. */
const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}]/gu;
const rightToLeft =
  /\p{Script=Hebrew}|\p{Script=Arabic}|\p{Script=Syriac}|\p{Script=Thaana}|\p{Script=Nko}/u;
const replacement = '\ufffd';

/** A text as it can be drawn: composed, on one line, without what cannot be seen; signs for what no font has. */
export function drawable(text: string): string {
  const plain = text.normalize('NFC').replaceAll(/\s+/gu, ' ').replaceAll(invisible, '');
  return [...plain].map((sign) => (fontFor(sign) === null ? replacement : sign)).join('');
}

/** Words, figures with the points in them and the signs at them, and single signs between them. */
const atoms = /[\p{L}\p{M}]+|\p{Sc}?\p{Nd}+(?:[.,:/-]\p{Nd}+)*[%‰\p{Sc}]?|[^\p{L}\p{M}\p{Nd}]/gu;

const mirrored: Readonly<Record<string, string>> = {
  '(': ')',
  ')': '(',
  '[': ']',
  ']': '[',
  '{': '}',
  '}': '{',
  '<': '>',
  '>': '<',
  '«': '»',
  '»': '«',
};

type Direction = 'left' | 'right' | 'figure' | 'none';

function directionOf(atom: string): Direction {
  if (rightToLeft.test(atom) && /\p{L}/u.test(atom)) return 'right';
  if (/\p{Nd}/u.test(atom)) return 'figure';
  return /\p{L}/u.test(atom) ? 'left' : 'none';
}

interface Atom {
  readonly text: string;
  readonly direction: Direction;
}

const isOpening = ({ text }: Atom): boolean => /^[([{]$/.test(text);
const isClosing = ({ text }: Atom): boolean => /^[)\]}]$/.test(text);

/** The last atom of a span, with the brackets behind it that were opened inside. */
function withClosing(all: readonly Atom[], first: number, last: number): number {
  const span = all.slice(first, last + 1);
  let open = span.filter(isOpening).length - span.filter(isClosing).length;
  let end = last;
  for (let next = all[end + 1]; next && open > 0 && isClosing(next); next = all[end + 1]) {
    open -= 1;
    end += 1;
  }
  return end;
}

/**
 * The atoms of a line in the order in which they stand on paper. A line goes from left to right; within it, words of
 * scripts from right to left, with the figures and signs between and the figures after them, stand in reverse: the
 * bidirectional algorithm (Unicode Annex 9) for one line without embeddings, which `drawable` has taken out.
 */
function inVisualOrder(line: string): readonly string[] {
  const all = (line.match(atoms) ?? []).map((text) => ({ text, direction: directionOf(text) }));
  const ordered: string[] = [];
  let index = 0;
  while (index < all.length) {
    const atom = all[index];
    if (atom?.direction !== 'right') {
      ordered.push(atom?.text ?? '');
      index += 1;
      continue;
    }
    let last = index;
    for (let next = index; next < all.length && all[next]?.direction !== 'left'; next += 1) {
      if (all[next]?.direction !== 'none') last = next;
    }
    last = withClosing(all, index, last);
    const span = all.slice(index, last + 1).reverse();
    ordered.push(...span.map(({ text }) => mirrored[text] ?? text));
    index = last + 1;
  }
  return ordered;
}

/** The runs of a line of drawable text, from left to right. Marks stay with the letter before them. */
export function runsOf(line: string): readonly Run[] {
  const runs: { font: FontName; text: string; isRight: boolean }[] = [];
  for (const atom of inVisualOrder(line)) {
    const isRight = directionOf(atom) === 'right';
    let isInside = false;
    for (const sign of atom) {
      const before = runs.at(-1);
      const font = /\p{M}/u.test(sign) && before ? before.font : (fontFor(sign) ?? 'latin');
      // Each word from right to left is a run of its own: the font turns its letters around, and no more than those.
      const joins = before?.font === font && (isInside || !(isRight || before.isRight));
      if (joins && before) before.text += sign;
      else runs.push({ font, text: sign, isRight });
      isInside = true;
    }
  }
  return runs.map(({ font, text }) => ({ font, text }));
}
