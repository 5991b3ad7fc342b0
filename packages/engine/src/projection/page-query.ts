import { type CompiledQuery, type RawBuilder, sql } from 'kysely';
import type { PageRequest } from '../define/listing.ts';
import type { AnyReadTable } from '../define/read-table.ts';
import { compiler } from './compiler.ts';
import { columnType } from './conditions.ts';

/** What a page is a page of. */
export interface PageQuery {
  readonly table: AnyReadTable;
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
function sortKeys(table: AnyReadTable, request: PageRequest): SortKey[] {
  const fallback = request.order ?? 'desc';
  const asked = request.sort ?? [];
  for (const { column } of asked) columnType(table, column);
  const keys = asked.length > 0 ? [...asked] : [{ column: 'created_at', order: fallback }];
  if (keys.some(({ column }) => column === 'id')) return keys;
  return [...keys, { column: 'id', order: keys.at(-1)?.order ?? fallback }];
}

/** Records without a value come last, whichever way. */
const ordering = (key: SortKey, reference: RawBuilder<unknown>): RawBuilder<unknown> =>
  isNeverNull(key.column)
    ? sql`${reference} ${sql.raw(key.order)}`
    : sql`${reference} ${sql.raw(key.order)} nulls last`;

/** Exactly the other way round. */
const reversed = (key: SortKey, reference: RawBuilder<unknown>): RawBuilder<unknown> => {
  const order = sql.raw(key.order === 'asc' ? 'desc' : 'asc');
  return isNeverNull(key.column)
    ? sql`${reference} ${order}`
    : sql`${reference} ${order} nulls first`;
};

// The default order must match the index to the letter.
const isNeverNull = (column: string): boolean =>
  column === 'id' || column === 'created_at' || column === 'updated_at';

/** How many rows there are in all, as `total`. */
export const countOf = ({ relation, where }: PageQuery): CompiledQuery =>
  sql`select count(*) as total from ${relation} where ${where}`.compile(compiler);

/**
 * One statement, so that the total and the page are of one and the same moment. Rows before the page
 * have to be skipped one by one, so a page near the end is better read from there; both ways
 * give the same page. What is counted and skipped is looked at in an index where that has all that is
 * asked for: only the rows of the page itself are read.
 */
export function pageOf(query: PageQuery, from: 'beginning' | 'end'): CompiledQuery {
  const { table, relation, where, own, request } = query;
  const keys = sortKeys(table, request);
  const selected = keys.map(
    (key, index) => sql`${sql.ref(key.column)} as ${sql.id(`sort_${index}`)}`,
  );
  const outer = sql.join(keys.map((key, index) => ordering(key, sql.id('page', `sort_${index}`))));
  return sql`with counted as materialized (select count(*) as total from ${relation} where ${where})
      select shown.resource, counted.total
        from counted
        left join (
          select id as page_id, ${sql.join(selected)} from ${relation} where ${where}
           order by ${portion(keys, request, from)}
        ) as page on true
        left join (select id, resource from ${relation} where ${own}) as shown
          on shown.id = page.page_id
       order by ${outer}`.compile(compiler);
}

/** The rows of the page, in one order or the other. */
function portion(
  keys: readonly SortKey[],
  { limit, offset }: PageRequest,
  from: 'beginning' | 'end',
): RawBuilder<unknown> {
  switch (from) {
    case 'beginning': {
      const inner = sql.join(keys.map((key) => ordering(key, sql.ref(key.column))));
      return sql`${inner} limit ${limit} offset ${offset}`;
    }
    case 'end': {
      const inner = sql.join(keys.map((key) => reversed(key, sql.ref(key.column))));
      const following = sql`(select total - ${offset}::bigint from counted)`;
      return sql`${inner} limit greatest(0, least(${limit}::bigint, ${following}))
                offset greatest(0, ${following} - ${limit}::bigint)`;
    }
    default:
      return from satisfies never;
  }
}
