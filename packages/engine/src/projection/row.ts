import { BrokenInvariant } from '@counterfoil/kernel';
import type { ColumnType, Stamps } from '../define/projection.ts';

/** The place of a row: the environment (or, for tables of the tenant, the tenant) and its key. */
export interface RowPlace {
  readonly scope: string;
  readonly id: string;
}

/** One string per row place, for maps. No scope contains the separator. */
export const placeKey = ({ scope, id }: RowPlace): string => `${scope}\n${id}`;

/**
 * A row of a read model in memory: the result of the fold, and the members that the engine adds.
 */
export interface Row extends RowPlace {
  /** Its `placeKey`. */
  readonly key: string;
  readonly tenant_id: string;
  readonly environment_id: string | null;
  /** The folded row; plain JSON. */
  readonly state: unknown;
  /** The resource that `view` makes of it; null while there is nothing to show. */
  readonly resource: (Stamps & Readonly<Record<string, unknown>>) | null;
  readonly created_at: string;
  readonly updated_at: string;
  readonly revision: number;
  readonly position: string;
}

/** An event that a projection cannot fold, or a row that does not fit its columns, as the cause says. */
export class Unfit extends Error {
  override readonly name = 'Unfit';
  constructor(cause: unknown) {
    super('a table cannot take an event', { cause });
  }
}

/** Runs what a projection computes. Turns whatever it throws into `Unfit`. */
export function fitting<Result>(compute: () => Result): Result {
  try {
    return compute();
  } catch (error) {
    throw new Unfit(error);
  }
}

/** Status of a row that has nothing to show, so that lists leave it out by an index alone. */
export const unshownStatus = '-';

/** Returns the content of the column `status` of a row; null when its resource has none. */
export function statusOf({ resource }: Pick<Row, 'resource'>): string | null {
  if (resource === null) return unshownStatus;
  return typeof resource.status === 'string' ? cleanText(resource.status) : null;
}

/** The text of a JSON value. Throws `BrokenInvariant` on what JSON cannot carry at all. */
export function jsonText(value: unknown): string {
  const text = JSON.stringify(value);
  if (text === undefined) throw new BrokenInvariant('a row of a read model must be JSON');
  return text;
}

/**
 * In a stored state the list of those members of the resource that the state does not have; null where
 * the state has a member of this name, and is stored whole.
 */
const lacking = '-';

/**
 * The text of a folded row beside its resource: null when the fold keeps what it shows, else the members
 * that the resource does not have with the same value, so that nothing is stored twice. `wholeState` is
 * the way back.
 */
export function stateText({ state, resource }: Pick<Row, 'state' | 'resource'>): string | null {
  if (state === resource) return null;
  if (!isObject(state)) return jsonText(state);
  if (lacking in state) return jsonText({ [lacking]: null, state });
  if (resource === null) return jsonText(state);
  // First, for what changes often comes last in a state.
  const own: Record<string, unknown> = {
    [lacking]: Object.keys(resource).filter((name) => !Object.hasOwn(state, name)),
  };
  let shared = 0;
  for (const name of Object.keys(state)) {
    if (Object.hasOwn(resource, name) && resource[name] === state[name]) shared += 1;
    else own[name] = state[name];
  }
  if (shared === 0) return jsonText(state);
  return jsonText(own);
}

/** The folded row of its stored text and its resource. */
export function wholeState(text: string | null, resource: Row['resource']): unknown {
  if (text === null) return resource;
  const stored: unknown = JSON.parse(text);
  if (!isObject(stored) || !(lacking in stored)) return stored;
  const { [lacking]: names, ...own } = stored;
  if (names === null) return own.state;
  const state: Record<string, unknown> = { ...resource, ...own };
  for (const name of names as readonly string[]) if (!Object.hasOwn(own, name)) delete state[name];
  return state;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the content of the filter column for metadata; null when the resource has none. */
export function metadataText(metadata: unknown): string | null {
  if (!isObject(metadata)) return null;
  return jsonText(cleanMetadata(metadata));
}

/** Metadata as the filter column holds it: the text of every name and value made storable. */
export const cleanMetadata = (
  metadata: Readonly<Record<string, unknown>>,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(metadata).map(([name, value]) => [cleanText(name), cleanText(String(value))]),
  );

/**
 * Text that Postgres can store. It knows no U+0000 and no lone surrogate; a caller who sends one
 * must not be able to stop a projection, so the columns to filter by hold U+FFFD instead. The
 * resource itself keeps what was sent.
 */
export const cleanText = (text: string): string =>
  (text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text).toWellFormed();

const decimalShape = /^-?\d+(\.\d+)?(e[+-]?\d{1,3})?$/i;
const integerShape = /^-?\d+$/;

/** The text of a value for a column type. Throws `BrokenInvariant` when it does not fit. */
export function encodeValue(type: ColumnType, value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (type === 'text[]') {
    if (!Array.isArray(value)) throw unfit(type, value);
    return arrayText(value.map((item) => cleanText(scalarText('text', item))));
  }
  const text = scalarText(type, value);
  switch (type) {
    case 'text':
      return cleanText(text);
    case 'numeric':
      return checked(decimalShape.test(text), type, text);
    case 'integer':
      return checked(integerShape.test(text), type, text);
    case 'boolean':
      return checked(text === 'true' || text === 'false', type, text);
    case 'timestamptz':
      return checked(!Number.isNaN(Date.parse(text)), type, text);
    default:
      return type satisfies never;
  }
}

function scalarText(type: ColumnType, value: unknown): string {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
    case 'boolean':
    case 'bigint':
      return String(value);
    default:
      throw unfit(type, value);
  }
}

function checked(fits: boolean, type: ColumnType, text: string): string {
  if (!fits) throw unfit(type, text);
  return text;
}

const unfit = (type: ColumnType, value: unknown): BrokenInvariant =>
  new BrokenInvariant(`${String(value)} does not fit a column of type ${type}`);

/** The text of a Postgres array of texts; null is SQL's null. */
export function arrayText(values: readonly (string | null)[]): string {
  if (values.length === 0) return '{}';
  // As most lists are: joined at once, they take less time, and leave no text half as long behind.
  if (values.every(isPlain)) return `{"${values.join('","')}"}`;
  return `{${values.map((value) => (value === null ? 'NULL' : `"${escaped(value)}"`)).join(',')}}`;
}

/** Tells whether a text stands in an array as it is. */
const isPlain = (value: string | null): boolean =>
  value !== null && !value.includes('"') && !value.includes('\\');

const escaped = (value: string): string =>
  isPlain(value) ? value : value.replaceAll(/["\\]/g, '\\$&');

/**
 * JSON values as one text, to be taken apart by `jsonSeparator`: cheaper than an array, in which
 * every quotation mark has to be escaped. JSON escapes all control characters, so the separator
 * is in no value. SQL's null is an empty text, which is no JSON.
 */
export const joinedJson = (values: readonly (string | null)[]): string =>
  values.map((value) => value ?? '').join(jsonSeparator);

export const jsonSeparator = '\u001e';
