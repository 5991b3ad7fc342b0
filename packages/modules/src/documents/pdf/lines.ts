/** The width of a text at the size and weight that are meant. */
export type Measure = (text: string) => number;

/** Scripts that are written without spaces, so that a line may end after any sign. */
const breaksAnywhere = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;

const ellipsis = '…';

/** Words with the space after them, and signs of scripts without spaces one by one. */
function piecesOf(text: string): readonly string[] {
  return (text.match(/[^ ]+ ?| /gu) ?? []).flatMap((word) =>
    breaksAnywhere.test(word) ? [...word] : [word],
  );
}

/** The longest beginning of a piece that fits, of one sign at least. */
function beginningOf(piece: string, width: number, measure: Measure): string {
  const signs = [...piece];
  let [least, most] = [1, signs.length];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (measure(signs.slice(0, middle).join('')) <= width) least = middle;
    else most = middle - 1;
  }
  return signs.slice(0, least).join('');
}

/**
 * Breaks a drawable text into lines of a width: at spaces, and within words that are wider than a line. Of more lines
 * than `most` the rest is left out, and the last one ends with an ellipsis.
 */
export function linesOf(
  text: string,
  width: number,
  measure: Measure,
  most: number,
): readonly string[] {
  const lines: string[] = [];
  let line = '';
  const pieces = [...piecesOf(text)].reverse();
  while (pieces.length > 0 && lines.length <= most) {
    const piece = pieces.pop() ?? '';
    if (measure((line + piece).trimEnd()) <= width) {
      line += piece;
    } else if (line !== '') {
      lines.push(line.trimEnd());
      line = '';
      pieces.push(piece);
    } else {
      const beginning = beginningOf(piece, width, measure);
      lines.push(beginning);
      if (beginning.length < piece.length) pieces.push(piece.slice(beginning.length));
    }
  }
  if (line !== '') lines.push(line.trimEnd());
  if (lines.length === 0) return [''];
  if (lines.length <= most) return lines;
  const last = beginningOf(lines[most - 1] ?? '', width - measure(ellipsis), measure);
  return [...lines.slice(0, most - 1), last + ellipsis];
}
