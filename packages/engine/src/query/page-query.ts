import { type CompiledQuery, type RawBuilder, sql } from 'kysely';
import { statements } from '../database/statements.ts';
import type { PageRequest } from '../define/listing.ts';
import type { AnyProjection } from '../define/projection.ts';
import { columnType } from './conditions.ts';

/** The rows of which a page is wanted, and their order. */
export interface PageQuery {
  readonly table: AnyProjection;
  readonly relation: RawBuilder<unknown>;
  readonly where: RawBuilder<unknown>;
  /** That a row is the caller's own: a part of `where`. */
  readonly own: RawBuilder<unknown>;
  readonly request: PageRequest;
}

/** The total comes with every row, and on a row of its own when the page is empty. */
export interface PageRow {
  readonly resource: string | null;
  readonly total: string;
}

interface SortKey {
  readonly column: string;
  readonly order: 'asc' | 'desc';
}

/** Newest first, unless the request says otherwise; the id decides between equals. */
function sortKeys(table: AnyProjection, request: PageRequest): SortKey[] {
  const fallback = request.order ?? 'desc';
  const asked = request.sort ?? [];
  for (const { column } of asked) columnType(table, column);
  const keys = asked.length > 0 ? [...asked] : [{ column: 'created_at', order: fallback }];
  if (keys.some(({ column }) => column === 'id')) return keys;
  return [...keys, { column: 'id', order: keys.at(-1)?.order ?? fallback }];
}

/** Records without a value come last, whichever way. */
const ordering = (
  { column, order }: SortKey,
  reference: RawBuilder<unknown>,
  nulls: 'first' | 'last' = 'last',
): RawBuilder<unknown> =>
  sql`${reference} ${sql.raw(isNeverNull(column) ? order : `${order} nulls ${nulls}`)}`;

/** Exactly the other way round. */
const reversed = ({ column, order }: SortKey): RawBuilder<unknown> =>
  ordering({ column, order: order === 'asc' ? 'desc' : 'asc' }, sql.ref(column), 'first');

// The default order must match the index to the letter.
const isNeverNull = (column: string): boolean =>
  column === 'id' || column === 'created_at' || column === 'updated_at';

/**
 * One statement, so that the total and the page are of one and the same moment. Rows are counted
 * and skipped in an index where that has all the columns: only the rows of the page itself are
 * read.
 *
 * @param isFar whether so many rows are before the page that it may be better read from the end
 */
export function pageOf(query: PageQuery, isFar: boolean): CompiledQuery {
  const { relation, where, own } = query;
  const keys = sortKeys(query.table, query.request);
  const outer = sql.join(keys.map((key, index) => ordering(key, sql.id('page', sortName(index)))));
  const places = isFar
    ? sql`(${fromBeginning(query, keys, true)}) union all (${fromEnd(query, keys)})`
    : fromBeginning(query, keys, false);
  // Lateral with a limit, because each place is to be looked up by its key, however many the
  // planner expects: otherwise it would read all rows to find those of a page.
  return sql`with counted as materialized (select count(*) as total from ${relation} where ${where})
      select shown.resource, counted.total
        from counted
        left join (${places}) as page on true
        left join lateral (
          select resource from ${relation} where ${own} and id = page.page_id limit 1
        ) as shown on true
       order by ${outer}`.compile(statements);
}

const sortName = (index: number): string => `sort_${index}`;

/** Ids of rows, with the values that they are sorted by. */
const placesOf = (
  { relation, where }: PageQuery,
  keys: readonly SortKey[],
): RawBuilder<unknown> => {
  const sorted = keys.map(
    ({ column }, index) => sql`${sql.ref(column)} as ${sql.id(sortName(index))}`,
  );
  return sql`select id as page_id, ${sql.join(sorted)} from ${relation} where ${where}`;
};

/**
 * Rows before the page have to be skipped one by one, so one in the second half is better read from the
 * end. Which way it is, the total says: the other way then reads nothing at all. Both ways give the
 * same page.
 */
const isNearEnd = ({ offset }: PageRequest): RawBuilder<unknown> =>
  sql`(select total < 2 * ${offset}::bigint from counted)`;

function fromBeginning(
  query: PageQuery,
  keys: readonly SortKey[],
  mayBeFromEnd: boolean,
): RawBuilder<unknown> {
  const { limit, offset } = query.request;
  const order = sql.join(keys.map((key) => ordering(key, sql.ref(key.column))));
  const rows = mayBeFromEnd
    ? sql`case when ${isNearEnd(query.request)} then 0 else ${limit}::bigint end`
    : sql`${limit}`;
  return sql`${placesOf(query, keys)} order by ${order} limit ${rows} offset ${offset}`;
}

function fromEnd(query: PageQuery, keys: readonly SortKey[]): RawBuilder<unknown> {
  const { limit, offset } = query.request;
  const order = sql.join(keys.map(reversed));
  const following = sql`(select total - ${offset}::bigint from counted)`;
  const rows = sql`case when ${isNearEnd(query.request)}
                   then greatest(0, least(${limit}::bigint, ${following})) else 0 end`;
  return sql`${placesOf(query, keys)} order by ${order} limit ${rows}
             offset greatest(0, ${following} - ${limit}::bigint)`;
}
