import { isUtf8 } from 'node:buffer';
import { decimal, invalidField } from '@counterfoil/kernel';
import { pointerOf } from './issues.ts';
import { jsonLimits } from './limits.ts';

/**
 * The value of a JSON text (UTF-8). Throws a 400 `Problem` with a pointer on malformed JSON, and on
 * values that JSON permits but PostgreSQL or canonical JSON cannot hold: NUL characters, lone
 * surrogates and numbers that a JSON number of 64 bits would change. The same for a structure beyond
 * `jsonLimits`.
 */
export function parseJsonBody(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw invalidField('', 'the body must be UTF-8');
  refuseTooManyValues(bytes);
  const text = withoutByteOrderMark(bytes.toString('utf8'));
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalidField('', 'the body must be well-formed JSON');
  }
  const found = faultIn(value, 0);
  if (found) throw invalidField(pointerOf(found.path), found.message);
  refuseChangedNumbers(text);
  return value;
}

/** Refuses a body before its values are built, which costs far more than to count them. */
function refuseTooManyValues(bytes: Buffer): void {
  if (bytes.length <= jsonLimits.values) return;
  let count = 0;
  for (let place = 0; place < bytes.length; place += 1) {
    const code = bytes[place];
    // Each value but the first follows a comma, or begins what it is in.
    if (code === quote) place = lastOfString(bytes, place);
    else if (code === comma || code === bracket || code === brace) count += 1;
  }
  if (count <= jsonLimits.values) return;
  throw invalidField('', `must have at most ${jsonLimits.values} values`);
}

/** The place of the quote that ends the string literal that starts at `start`. */
function lastOfString(bytes: Buffer, start: number): number {
  let place = start + 1;
  while (place < bytes.length && bytes[place] !== quote)
    place += bytes[place] === backslash ? 2 : 1;
  return place;
}

const withoutByteOrderMark = (text: string): string =>
  text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;

interface Fault {
  /** Keys from the outside in. */
  readonly path: PropertyKey[];
  readonly message: string;
}

const fault = (message: string): Fault => ({ path: [], message });

/** The fault of a text that is to be stored; null when there is none. */
export function faultInText(text: string): string | null {
  if (text.includes('\0')) return 'must not contain the NUL character (U+0000)';
  return text.isWellFormed() ? null : 'must not contain a lone surrogate';
}

/** The first thing in a parsed value that cannot be stored. Drops members called `__proto__`. */
function faultIn(value: unknown, depth: number): Fault | null {
  if (typeof value === 'string') {
    const message = faultInText(value);
    return message === null ? null : fault(message);
  }
  if (typeof value === 'number') {
    return Number.isFinite(value) ? null : fault('must be a number that is not so large');
  }
  if (typeof value !== 'object' || value === null) return null;
  if (depth >= jsonLimits.depth) {
    return fault(`must not be nested deeper than ${jsonLimits.depth} levels`);
  }
  return Array.isArray(value) ? faultInItems(value, depth) : faultInMembers(value, depth);
}

function faultInItems(items: readonly unknown[], depth: number): Fault | null {
  if (items.length > jsonLimits.items) {
    return fault(`must have at most ${jsonLimits.items} items`);
  }
  for (let index = 0; index < items.length; index += 1) {
    const found = faultIn(items[index], depth + 1);
    if (found) return at(index, found);
  }
  return null;
}

function faultInMembers(members: object, depth: number): Fault | null {
  const keys = Object.keys(members);
  if (keys.length > jsonLimits.members) {
    return fault(`must have at most ${jsonLimits.members} members`);
  }
  for (const key of keys) {
    // An own member of this name is an unknown field that only an attacker would send.
    if (key === '__proto__') {
      Reflect.deleteProperty(members, key);
      continue;
    }
    if (faultInText(key) !== null) {
      return fault('must have no key with a NUL character or a lone surrogate');
    }
    const found = faultIn((members as Record<string, unknown>)[key], depth + 1);
    if (found) return at(key, found);
  }
  return null;
}

function at(key: PropertyKey, found: Fault): Fault {
  found.path.unshift(key);
  return found;
}

const maybeLong = /\d[\d.]{15}|\d[eE]-?\d{3}/;
const numberLiteral = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/**
 * Refuses a well-formed JSON text with a number literal that is not the number it is parsed to, such
 * as 1234567.1234567891: to accept it would round somebody's money.
 */
function refuseChangedNumbers(text: string): void {
  if (!maybeLong.test(text)) return;
  let compared = 0;
  let place = 0;
  while (place < text.length) {
    const code = text.charCodeAt(place);
    if (code === quote) {
      place = endOfString(text, place);
    } else if (code === minus || (code >= digitZero && code <= digitNine)) {
      numberLiteral.lastIndex = place;
      const literal = numberLiteral.exec(text)?.[0] ?? '';
      if (literal.length > 15 || /[eE]/.test(literal)) {
        compared += 1;
        refuseIfChanged(literal, compared);
      }
      place += Math.max(1, literal.length);
    } else {
      place += 1;
    }
  }
}

/** `count`: how many literals of the text have been compared, this one included. */
function refuseIfChanged(literal: string, count: number): void {
  if (count > jsonLimits.longNumbers) {
    const message = `has more than ${jsonLimits.longNumbers} long numbers; send them as strings`;
    throw invalidField('', message);
  }
  if (literal.length <= 400 && decimal(literal).eq(decimal(String(Number(literal))))) return;
  const message = `a JSON number cannot carry ${literal.slice(0, 64)} exactly; send it as a string`;
  throw invalidField('', message);
}

const quote = 0x22;
const minus = 0x2d;
const backslash = 0x5c;
const comma = 0x2c;
const bracket = 0x5b;
const brace = 0x7b;
const digitZero = 0x30;
const digitNine = 0x39;

/** The place after the string literal that starts at `start`. */
function endOfString(text: string, start: number): number {
  let place = start + 1;
  while (place < text.length) {
    const code = text.charCodeAt(place);
    if (code === quote) return place + 1;
    place += code === backslash ? 2 : 1;
  }
  return place;
}
