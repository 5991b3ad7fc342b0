import { BrokenInvariant } from '@counterfoil/kernel';
import type { AnyProjection, ColumnType } from '../define/projection.ts';
import { cleanText, jsonText, type Row } from './row.ts';

/*
 * Rows of a projection that names its `members` hold nothing of the resource twice: what a column has is in
 * the column alone, and the rest is JSON without it. The resource is built again where rows are read.
 */

/** A column that holds a member of the resource and is not there for filters. */
type HeldColumn = readonly [name: string, type: ColumnType];

/** The columns that a table has for the members of its resource alone. */
export const heldColumns = ({ members }: AnyProjection): readonly HeldColumn[] =>
  Object.entries(members ?? {}).flatMap(([name, type]) =>
    type === 'column' || type === 'json' ? [] : [[name, type] as const],
  );

/** The type by which a column gives a member back; null where the member is kept as JSON. */
function heldType(table: AnyProjection, name: string): ColumnType | null {
  const type = table.members?.[name];
  if (type === undefined || type === 'json') return null;
  if (type !== 'column') return type;
  const declared = table.columns[name];
  if (declared) return declared.type;
  return Object.hasOwn(fixedTypes, name) ? fixedTypes[name as keyof typeof fixedTypes] : null;
}

const fixedTypes = {
  id: 'text',
  tenant_id: 'text',
  environment_id: 'text',
  status: 'text',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
} as const satisfies Readonly<Record<string, ColumnType>>;

/** Throws `BrokenInvariant` on a member that has no column of its name, or two. */
export function assertMembers(table: AnyProjection): void {
  for (const [name, place] of Object.entries(table.members ?? {})) {
    const hasColumn = Object.hasOwn(table.columns, name) || Object.hasOwn(fixedTypes, name);
    if (place === 'json' || hasColumn === (place === 'column')) continue;
    const what = hasColumn ? 'has a column already' : 'has no column';
    throw new BrokenInvariant(`projection ${table.name}: the member ${name} ${what}`);
  }
}

/** Decimals that PostgreSQL gives back digit by digit. */
const plainDecimal = /^(?!-0(\.0*)?$)-?(0|[1-9]\d{0,99})(\.\d{1,99})?$/;
const plainInstant = /^[1-9]\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** The text by which a column of a type holds a member; null when it could not give back exactly this value. */
export const heldText = (type: ColumnType, value: unknown): string | null =>
  isGivenBack(type, value) ? String(value) : null;

function isGivenBack(type: ColumnType, value: unknown): boolean {
  switch (type) {
    case 'text':
      return typeof value === 'string' && cleanText(value) === value;
    case 'numeric':
      return typeof value === 'string' && plainDecimal.test(value);
    case 'timestamptz':
      return typeof value === 'string' && plainInstant.test(value);
    case 'integer':
      return Number.isSafeInteger(value) && !Object.is(value, -0);
    case 'boolean':
      return typeof value === 'boolean';
    case 'text[]':
      return false;
    default:
      return type satisfies never;
  }
}

/** A member of a resource, and where a row has it. */
interface HeldMember {
  readonly name: string;
  /** The type by which a column gives it back; null where it is kept as JSON. */
  readonly type: ColumnType | null;
  /** True for a column that is there for this member alone: its text was made by `heldText`. */
  readonly isOwn: boolean;
  /** Index of the column's text. */
  readonly column: number;
}

type Resource = NonNullable<Row['resource']>;
type Texts = readonly (string | null)[];

/**
 * The way in which the rows of a table hold their resource, given its columns in the order of the texts of a row. It gives the
 * JSON that a row holds of it: an object of the members that no column holds, or, where that would not lead back to the very
 * same resource, an array with the resource as a whole.
 */
export function restWriter(
  table: AnyProjection,
  columns: readonly string[],
): (resource: Resource, texts: Texts) => string {
  if (!table.members) return jsonText;
  const own = new Set(heldColumns(table).map(([name]) => name));
  const members = Object.keys(table.members).map(
    (name): HeldMember => ({
      name,
      type: heldType(table, name),
      isOwn: own.has(name),
      column: columns.indexOf(name),
    }),
  );
  return (resource, texts) => restOf(members, resource, texts) ?? jsonText([resource]);
}

/** Tells whether the text of a column gives back exactly this value. What a column holds is clean, see `cleanText`. */
function holds({ type, isOwn }: HeldMember, value: unknown, text: string | null): boolean {
  if (type === null || text !== String(value)) return false;
  if (isOwn) return true;
  return type === 'text' ? typeof value === 'string' : isGivenBack(type, value);
}

/** Goes from the last member to the first: what changes often comes last in a resource, and here first (`columnTypes`). */
function restOf(members: readonly HeldMember[], resource: Resource, texts: Texts): string | null {
  const rest: Record<string, unknown> = {};
  const names = Object.keys(resource);
  let next = names.length - 1;
  for (let index = members.length - 1; index >= 0; index -= 1) {
    const member = members[index] as HeldMember;
    const { name, type, column } = member;
    const isThere = names[next] === name;
    if (isThere) next -= 1;
    if (type === null) {
      if (isThere) rest[name] = resource[name];
    } else {
      const text = texts[column] ?? null;
      if (isThere ? !holds(member, resource[name], text) : text !== null) return null;
    }
  }
  if (next >= 0) return null;
  const text = jsonText(rest);
  return withoutText.test(text) ? null : text;
}

/** Escapes in JSON for which PostgreSQL has no text: it cannot take such JSON apart. */
const withoutText = /\\u(0000|d[89a-f])/;

const utc = (column: string): string =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** The expression by which a statement writes a member's JSON from the columns of its row; null when it is not there. */
function memberExpression(table: AnyProjection, name: string, row: string): string {
  const column = `${row}"${name}"`;
  const type = heldType(table, name);
  switch (type) {
    case null:
      return `(${row}resource -> '${name}')::text`;
    case 'text':
      return `to_json(${column})::text`;
    case 'numeric':
      return `to_json(${column}::text)::text`;
    case 'timestamptz':
      return `'"' || ${utc(column)} || '"'`;
    default:
      return `${column}::text`;
  }
}

/**
 * The expression by which a statement reads the resource of a row: the way back from `restWriter`. `alias` is the
 * statement's name for the table, where it needs one.
 */
export function resourceExpression(table: AnyProjection, alias?: string): string {
  const { members } = table;
  const row = alias === undefined ? '' : `${alias}.`;
  const stored = `${row}resource`;
  if (!members) return stored;
  const built = Object.keys(members).map(
    (name) => `'"${name}":' || ${memberExpression(table, name, row)}`,
  );
  // What is null is left out by `concat_ws`.
  return `case json_typeof(${stored})
    when 'array' then substr(${stored}::text, 2, length(${stored}::text) - 2)::json
    when 'object' then ('{' || concat_ws(',', ${built.join(', ')}) || '}')::json
  end`;
}
