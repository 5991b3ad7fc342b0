import type { AnyProjection } from '../define/projection.ts';
import type { RowPlace } from '../projection/row.ts';
import { columnNames } from '../projection/table-shape.ts';

/** A place in which a read model differs from the log. */
export interface Difference extends RowPlace {
  readonly table: string;
  /** `missing`: the row should be there. `extra`: it should not. */
  readonly kind: 'different' | 'missing' | 'extra';
  /** The column, and the path inside its JSON, as in `resource.balance`; empty for whole rows. */
  readonly path: string;
  readonly expected: unknown;
  readonly actual: unknown;
}

/** A row as the text of its columns, in the order of `columnNames`. */
export type RowText = readonly (string | null)[];

interface Compared extends RowPlace {
  readonly expected: RowText | null;
  readonly actual: RowText | null;
}

const jsonColumns = new Set(['state', 'resource', 'metadata']);

/**
 * The first difference between a row as it should be and as it is; null when they say the same. The
 * order of members in an object does not count.
 */
export function rowDifference(
  table: AnyProjection,
  { scope, id, expected, actual }: Compared,
): Difference | null {
  const place = { table: table.name, scope, id };
  if (!actual) return { ...place, kind: 'missing', path: '', expected: 'a row', actual: null };
  if (!expected) return { ...place, kind: 'extra', path: '', expected: null, actual: 'a row' };
  for (const [index, column] of columnNames(table).entries()) {
    const found = jsonColumns.has(column)
      ? valueDifference(parsed(expected[index]), parsed(actual[index]), column)
      : textDifference(expected[index], actual[index], column);
    if (found) return { ...place, kind: 'different', ...found };
  }
  return null;
}

interface Found {
  readonly path: string;
  readonly expected: unknown;
  readonly actual: unknown;
}

const textDifference = (
  expected: string | null | undefined,
  actual: string | null | undefined,
  path: string,
): Found | null => (expected === actual ? null : { path, expected, actual });

function parsed(text: string | null | undefined): unknown {
  return text === null || text === undefined ? null : JSON.parse(text);
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

function valueDifference(expected: unknown, actual: unknown, path: string): Found | null {
  if (Object.is(expected, actual)) return null;
  const bothObjects = isObject(expected) && isObject(actual);
  if (!bothObjects || Array.isArray(expected) !== Array.isArray(actual)) {
    return { path, expected, actual };
  }
  for (const name of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
    const found = valueDifference(expected[name], actual[name], `${path}.${name}`);
    if (found) return found;
  }
  return null;
}
