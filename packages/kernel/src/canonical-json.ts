import { hash } from 'node:crypto';

/** A value that JSON can carry without loss: no bigint, no undefined, no NaN. */
export type Json =
  | string
  | number
  | boolean
  | null
  | readonly Json[]
  | { readonly [key: string]: Json | undefined };

/**
 * The canonical JSON text of a value (RFC 8785): keys in UTF-16 code unit order, no white space,
 * numbers as ECMAScript prints them. Members that are `undefined` are left out, as in JSON.
 *
 * Throws a TypeError on what JSON cannot carry (bigint, function, symbol, NaN, infinity, an instance of a
 * class), because a hash over something that changes when it is stored would be worthless.
 */
export function canonicalJson(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value.isWellFormed() ? value : refuseText(value));
    case 'boolean':
      return value ? 'true' : 'false';
    case 'number':
      return Number.isFinite(value) ? String(Object.is(value, -0) ? 0 : value) : refuse(value);
    case 'object':
      return value === null ? 'null' : canonicalObject(value);
    default:
      return refuse(value);
  }
}

function canonicalObject(value: object): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) refuse(value);
  let members = '';
  for (const key of sortedNames(value)) {
    const member = (value as Record<string, unknown>)[key];
    if (member === undefined) continue;
    members += `${members === '' ? '' : ','}${nameText(key)}${canonicalJson(member)}`;
  }
  return `{${members}}`;
}

/** The names of an object in UTF-16 code unit order, which most objects are in already. */
function sortedNames(value: object): readonly string[] {
  const names = Object.keys(value);
  for (let index = 1; index < names.length; index += 1) {
    // Without a comparison function, `sort` goes by code units.
    if ((names[index - 1] ?? '') > (names[index] ?? '')) return names.sort();
  }
  return names;
}

/** The texts of names that were met; the same few come again and again. */
const nameTexts = new Map<string, string>();
const nameTextsMaximum = 2_000;

function nameText(name: string): string {
  const known = nameTexts.get(name);
  if (known !== undefined) return known;
  const text = `${canonicalJson(name)}:`;
  // Names that callers invent, as in metadata, must not fill the memory.
  if (nameTexts.size < nameTextsMaximum) nameTexts.set(name, text);
  return text;
}

function refuse(value: unknown): never {
  throw new TypeError(`JSON cannot carry ${typeof value} ${String(value)}`);
}

function refuseText(value: string): never {
  throw new TypeError(`JSON cannot carry a lone surrogate: ${JSON.stringify(value)}`);
}

/** SHA-256 of a text (UTF-8), as 64 lower-case hexadecimal digits. */
export const sha256 = (text: string): string => hash('sha256', text);

/** SHA-256 of the canonical JSON of a value, as 64 lower-case hexadecimal digits. */
export const hashOf = (value: unknown): string => sha256(canonicalJson(value));
