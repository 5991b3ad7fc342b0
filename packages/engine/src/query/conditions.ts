import { BrokenInvariant, invariant, Problem, readInstant } from '@counterfoil/kernel';
import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';
import {
  type AnyRowFilter,
  commonColumns,
  type FilterOperator,
  filterValuesMaximum,
} from '../define/listing.ts';
import type { AnyProjection, ColumnType } from '../define/projection.ts';
import { cleanMetadata, cleanText, encodeValue, unshownStatus } from '../projection/row.ts';
import { databaseType } from '../projection/table-shape.ts';

export type Condition = Expression<SqlBool>;

/** The type of a column that can be filtered and sorted by. Throws on any other name. */
export function columnType(table: AnyProjection, column: string): ColumnType {
  if (Object.hasOwn(commonColumns, column)) {
    return commonColumns[column as keyof typeof commonColumns];
  }
  const declared = Object.hasOwn(table.columns, column) ? table.columns[column] : undefined;
  invariant(declared, `table ${table.name} has no column ${column}`);
  return declared.type;
}

/** Tells whether filters choose the status themselves. */
export const filtersStatus = (filters: readonly AnyRowFilter[]): boolean =>
  filters.some(({ column }) => column === 'status');

const unfit = ({ column, pointer }: AnyRowFilter, message: string): Problem =>
  new Problem('validation_error', `filter ${column}: ${message}`, {
    details: { field: column },
    ...(pointer === undefined ? {} : { errors: [{ pointer, message }] }),
  });

/** The content of a column, in words for people. */
const typeNames: Readonly<Record<ColumnType, string>> = {
  text: 'a text',
  numeric: 'a decimal',
  integer: 'a decimal',
  boolean: 'true or false',
  timestamptz: 'an RFC 3339 date-time',
  'text[]': 'a list of texts',
};

/** A value of a request as the text of a column's type. Throws a `Problem` if it is none. */
function textOf(filter: AnyRowFilter, type: ColumnType, value: unknown): string | null {
  let text: string | null;
  try {
    // Numbers compare as decimals, so that 1.5 may be asked of a column of integers.
    text = encodeValue(type === 'integer' ? 'numeric' : type, value);
  } catch {
    throw unfit(filter, `must be ${typeNames[type]}`);
  }
  // JavaScript reads more texts as times than Postgres does.
  if (type === 'timestamptz' && text !== null && readInstant(text) === null) {
    throw unfit(filter, `must be ${typeNames[type]}`);
  }
  return text;
}

const comparedType = (type: ColumnType): RawBuilder<unknown> =>
  sql.raw(type === 'integer' ? 'numeric' : databaseType(type));

const parameter = (filter: AnyRowFilter, type: ColumnType, value: unknown): RawBuilder<unknown> =>
  sql`${textOf(filter, type, value)}::${comparedType(type)}`;

/** All values as one parameter: PostgreSQL takes 65,535, and each costs. */
function listParameter(
  filter: AnyRowFilter,
  type: ColumnType,
  value: unknown,
): RawBuilder<unknown> {
  if (!Array.isArray(value)) throw unfit(filter, 'must be a list');
  const itemType = type === 'text[]' ? 'text' : type;
  const items = value.map((item) => textOf(filter, itemType, item));
  return sql`${sql.val(items)}::${comparedType(itemType)}[]`;
}

/** The filters as conditions. Refuses lists that have more values than `filterValuesMaximum` together. */
export function conditionsOf(
  table: AnyProjection,
  filters: readonly AnyRowFilter[],
  collation: string,
): readonly Condition[] {
  const count = filters.reduce(
    (sum, { value }) => sum + (Array.isArray(value) ? value.length : 0),
    0,
  );
  if (count > filterValuesMaximum) {
    const message = `The filters must have at most ${filterValuesMaximum} values in all, not ${count}.`;
    throw new Problem('validation_error', message);
  }
  return filters.map((filter) => conditionOf(table, filter, collation));
}

const comparisons: Readonly<Partial<Record<FilterOperator, string>>> = {
  eq: '=',
  gt: '>',
  gte: '>=',
  lt: '<',
  lte: '<=',
};

/** A missing value is not among the listed ones and contains nothing. */
const not = (condition: RawBuilder<SqlBool>): RawBuilder<SqlBool> =>
  sql<SqlBool>`not coalesce(${condition}, false)`;

/**
 * A filter as a condition. Text contains case-insensitively, in the given collation; a list
 * contains an item exactly, and equals a value when it has it. Throws a `Problem`
 * (validation_error) on a value or an operator that does not fit the column.
 */
function conditionOf(table: AnyProjection, filter: AnyRowFilter, collation: string): Condition {
  const { column, operator, value } = filter;
  if (operator === 'metadata') return metadataCondition(filter);
  const type = columnType(table, column);
  const reference = sql.ref(column);
  if (operator === 'in' || operator === 'not_in') {
    const list = listParameter(filter, type, value);
    const isIn =
      type === 'text[]'
        ? sql<SqlBool>`${reference} && ${list}`
        : sql<SqlBool>`${reference} = any(${list})`;
    return operator === 'in' ? isIn : not(isIn);
  }
  if (operator === 'contains' || operator === 'not_contains') {
    const has = containsCondition(filter, type, collation);
    return operator === 'contains' ? has : not(has);
  }
  const comparison = comparisons[operator];
  if (!comparison) throw new BrokenInvariant(`there is no operator ${operator}`);
  if (type === 'text[]') {
    if (operator !== 'eq') throw unfit(filter, `${operator} does not fit a list`);
    return sql<SqlBool>`${reference} @> ${listParameter(filter, type, [value].flat())}`;
  }
  return sql<SqlBool>`${reference} ${sql.raw(comparison)} ${parameter(filter, type, value)}`;
}

function containsCondition(
  filter: AnyRowFilter,
  type: ColumnType,
  collation: string,
): RawBuilder<SqlBool> {
  const { column, value } = filter;
  const reference = sql.ref(column);
  if (type === 'text[]') {
    return sql<SqlBool>`${reference} @> ${listParameter(filter, type, [value])}`;
  }
  if (type !== 'text') throw unfit(filter, `contains does not fit ${typeNames[type]}`);
  const lower = (text: RawBuilder<unknown>) =>
    sql`lower(${text} collate ${sql.id('pg_catalog', collation)})`;
  const needle = lower(parameter(filter, type, value));
  return sql<SqlBool>`strpos(${lower(reference)}, ${needle}) > 0`;
}

function metadataCondition(filter: AnyRowFilter): Condition {
  const { value } = filter;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw unfit(filter, 'must be a map of names to values');
  }
  const pairs = JSON.stringify(cleanMetadata(value as Readonly<Record<string, unknown>>));
  return sql<SqlBool>`metadata @> ${pairs}::jsonb`;
}

/** Statuses that lists leave out unless they are asked for (D15), and the one that nobody sees. */
const hiddenStatuses = ['archived', 'deleted', unshownStatus];

/** The rows of these statuses; without any: what is neither archived nor deleted. */
export function statusCondition(statuses: readonly string[] | undefined): Condition {
  if (statuses) {
    return sql<SqlBool>`status = any(${sql.val(statuses.map(cleanText))}::text[])`;
  }
  return sql<SqlBool>`(status is null or status <> all(${sql.val(hiddenStatuses)}::text[]))`;
}

/** Rows that have something to show. */
export const shown: Condition = sql<SqlBool>`status is distinct from ${sql.lit(unshownStatus)}`;

/** Deleted records are not found; archived ones are. */
export const notDeleted: Condition = sql<SqlBool>`status is distinct from 'deleted'`;
