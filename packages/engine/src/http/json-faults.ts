import { decimal, invalidField } from '@counterfoil/kernel';

/** Something that JSON permits and that cannot be stored. */
export interface Fault {
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

/** The fault of the name of a member; null when there is none. */
export const faultInKey = (key: PropertyKey): string | null =>
  faultInText(String(key)) && 'must have no key with a NUL character or a lone surrogate';

/**
 * The first thing in a parsed value that PostgreSQL or canonical JSON cannot hold; null when there is none. Drops
 * members called `__proto__`.
 */
export function faultIn(value: unknown): Fault | null {
  if (typeof value === 'string') {
    const message = faultInText(value);
    return message === null ? null : fault(message);
  }
  if (typeof value === 'number') {
    return Number.isFinite(value) ? null : fault('must be a number that is not so large');
  }
  if (typeof value !== 'object' || value === null) return null;
  return Array.isArray(value) ? faultInItems(value) : faultInMembers(value);
}

function faultInItems(items: readonly unknown[]): Fault | null {
  for (let index = 0; index < items.length; index += 1) {
    const found = faultIn(items[index]);
    if (found) return at(index, found);
  }
  return null;
}

function faultInMembers(members: object): Fault | null {
  for (const key of Object.keys(members)) {
    // An own member of this name is an unknown field that only an attacker would send.
    if (key === '__proto__') {
      Reflect.deleteProperty(members, key);
      continue;
    }
    const message = faultInKey(key);
    if (message !== null) return fault(message);
    const found = faultIn((members as Record<string, unknown>)[key]);
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
 * Refuses well-formed JSON texts with a number literal that is not the number it is parsed to, such as
 * 1234567.1234567891: to accept it would round somebody's money.
 */
export class NumberCheck {
  readonly #most: number;
  #compared = 0;

  /** Takes the number of long numbers that all texts together may have. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Throws a 400 `Problem` for the first changed number of a text, and for too many long ones in all texts. */
  check(text: string): void {
    if (!maybeLong.test(text)) return;
    let place = 0;
    while (place < text.length) {
      const code = text.charCodeAt(place);
      if (code === quote) {
        place = endOfText(text, place);
      } else if (code === minus || (code >= digitZero && code <= digitNine)) {
        numberLiteral.lastIndex = place;
        const literal = numberLiteral.exec(text)?.[0] ?? '';
        if (literal.length > 15 || /[eE]/.test(literal)) this.#compare(literal);
        place += Math.max(1, literal.length);
      } else {
        place += 1;
      }
    }
  }

  #compare(literal: string): void {
    this.#compared += 1;
    if (this.#compared > this.#most) {
      const message = `has more than ${this.#most} long numbers; send them as strings`;
      throw invalidField('', message);
    }
    // As the number is written: most long numbers come from a double.
    if (String(Number(literal)) === literal) return;
    if (literal.length <= 400 && decimal(literal).eq(decimal(String(Number(literal))))) return;
    const message = `a JSON number cannot carry ${literal.slice(0, 64)} exactly; send it as a string`;
    throw invalidField('', message);
  }
}

const quote = 0x22;
const minus = 0x2d;
const backslash = 0x5c;
const digitZero = 0x30;
const digitNine = 0x39;

/** The place after the string literal that starts at `start`. */
function endOfText(text: string, start: number): number {
  let place = start + 1;
  while (place < text.length) {
    const code = text.charCodeAt(place);
    if (code === quote) return place + 1;
    place += code === backslash ? 2 : 1;
  }
  return place;
}
