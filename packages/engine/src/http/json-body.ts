import { isUtf8 } from 'node:buffer';
import { invalidField } from '@counterfoil/kernel';
import type { BodyContents } from '../define/route.ts';
import { JsonText } from './json-text.ts';
import { jsonLimits } from './limits.ts';
import type { Pieces } from './pieces.ts';

/** About the bytes that are parsed without a pause. A single text may be longer: it costs little. */
const pieceDefault = 32 * 1024;
/** The bytes that are looked at without a pause. */
const scannedBytes = 256 * 1024;

/**
 * The value of a JSON text (UTF-8), as `JSON.parse` builds it, without members called `__proto__`. Throws a
 * 400 `Problem` with a pointer on malformed JSON, on a structure beyond `jsonLimits`, and on values that JSON
 * permits but PostgreSQL or canonical JSON cannot hold: NUL characters, lone surrogates and numbers that a JSON
 * number of 64 bits would change.
 *
 * What is too large is counted before its values are built, which costs far more. A long text is cut between the
 * members of its lists and objects, so that each piece is short.
 */
export function* parseJsonBody(
  bytes: Buffer,
  most: BodyContents = jsonLimits,
  pieceBytes = pieceDefault,
): Pieces<unknown> {
  if (!isUtf8(bytes)) throw invalidField('', 'the body must be UTF-8');
  const first = hasByteOrderMark(bytes) ? 3 : 0;
  const text = new JsonText(bytes, first, most.longNumbers);
  let values = 0;
  let pauseAt = scannedBytes;
  for (let place = first; place < bytes.length; place += 1) {
    const code = bytes[place];
    if (code === quote) {
      place = lastOfString(bytes, place);
    } else if (code === comma) {
      values += 1;
      if (text.unparsedAt(place) >= pieceBytes) yield text.parseUpTo(place);
      text.nextMember(place);
    } else if (code === bracket || code === brace) {
      values += 1;
      text.begin(code === bracket, place);
    } else if (code === endBracket || code === endBrace) {
      if (text.unparsedAt(place) >= pieceBytes) yield text.parseUpTo(place);
      text.end(code === endBracket, place);
    } else if (place >= pauseAt) {
      pauseAt = place + scannedBytes;
      yield;
    }
    // Each value but the first follows a comma, or begins what it is in.
    if (values > most.values) {
      throw invalidField('', `must have at most ${most.values} values`);
    }
  }
  return text.value();
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const bracket = 0x5b;
const endBracket = 0x5d;
const brace = 0x7b;
const endBrace = 0x7d;

const hasByteOrderMark = (bytes: Buffer): boolean =>
  bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;

/** Longer strings are looked through by the runtime, which is faster but takes a moment to ask. */
const shortString = 64;

/** The place of the quote that ends the string literal that starts at `start`. */
function lastOfString(bytes: Buffer, start: number): number {
  let place = start + 1;
  const farthest = Math.min(bytes.length, place + shortString);
  while (place < farthest && bytes[place] !== quote) place += bytes[place] === backslash ? 2 : 1;
  if (place < farthest) return place;
  for (let end = bytes.indexOf(quote, place); end >= 0; end = bytes.indexOf(quote, end + 1)) {
    let escapes = 0;
    while (end - 1 - escapes >= place && bytes[end - 1 - escapes] === backslash) escapes += 1;
    if (escapes % 2 === 0) return end;
  }
  return bytes.length;
}
