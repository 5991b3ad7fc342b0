import { BrokenInvariant } from '@counterfoil/kernel';
import type { AnyReadTable, ColumnType } from '../define/read-table.ts';

/** Where a row is: the environment (or, for tables of the tenant, the tenant) and its key. */
export interface RowPlace {
  readonly scope: string;
  readonly id: string;
}

/** One string per row place, for maps. No id contains the separator. */
export const placeKey = ({ scope, id }: RowPlace): string => `${scope}\n${id}`;

/** A row of a read model in memory: what the fold left, with what the engine adds to it. */
export interface Row extends RowPlace {
  readonly tenantId: string;
  readonly environmentId: string | null;
  /** The folded row; plain JSON. */
  readonly state: unknown;
  /** What `view` makes of it; null while there is nothing to show. */
  readonly resource: Readonly<Record<string, unknown>> | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly revision: number;
  readonly position: string;
}

/** A row as its columns' text, in the order of `columnNames`; null is SQL's null. */
export type EncodedRow = readonly (string | null)[];

/** The columns of a read table in the order in which rows are written. */
export const columnNames = (table: AnyReadTable): readonly string[] => [
  'id',
  'tenant_id',
  'environment_id',
  'status',
  'created_at',
  'updated_at',
  'revision',
  'position',
  'state',
  'resource',
  'metadata',
  ...Object.keys(table.columns),
];

/** The text of every column of a row. Throws `BrokenInvariant` on a value that fits no column. */
export function encodeRow(table: AnyReadTable, row: Row): EncodedRow {
  const { resource } = row;
  const encoded: (string | null)[] = [
    row.id,
    row.tenantId,
    row.environmentId,
    typeof resource?.status === 'string' ? cleanText(resource.status) : null,
    row.createdAt,
    row.updatedAt,
    String(row.revision),
    row.position,
    // What the fold keeps is mostly what it shows: then it is stored once.
    row.state === resource ? null : jsonText(row.state),
    resource === null ? null : jsonText(resource),
    metadataText(resource?.metadata),
  ];
  for (const column of Object.values(table.columns)) {
    encoded.push(resource === null ? null : encodeValue(column.type, column.of(resource)));
  }
  return encoded;
}

function jsonText(value: unknown): string {
  const text = JSON.stringify(value);
  if (text === undefined) throw new BrokenInvariant('a row of a read model must be JSON');
  return text;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function metadataText(metadata: unknown): string | null {
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
      return fitting(decimalShape.test(text), type, text);
    case 'integer':
      return fitting(integerShape.test(text), type, text);
    case 'boolean':
      return fitting(text === 'true' || text === 'false', type, text);
    case 'timestamptz':
      return fitting(!Number.isNaN(Date.parse(text)), type, text);
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

function fitting(fits: boolean, type: ColumnType, text: string): string {
  if (!fits) throw unfit(type, text);
  return text;
}

const unfit = (type: ColumnType, value: unknown): BrokenInvariant =>
  new BrokenInvariant(`${String(value)} does not fit a column of type ${type}`);

const needsEscape = /["\\]/g;

/** The text of a Postgres array of texts. */
export function arrayText(values: readonly (string | null)[]): string {
  const items = values.map((value) =>
    value === null ? 'NULL' : `"${value.replace(needsEscape, '\\$&')}"`,
  );
  return `{${items.join(',')}}`;
}
