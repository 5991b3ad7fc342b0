import { Problem } from '@counterfoil/kernel';
import {
  type CompiledQuery,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type RawBuilder,
  sql,
} from 'kysely';
import type { Found, Principal, Reader } from '../define/context.ts';
import type { Page, PageRequest, RowFilter } from '../define/listing.ts';
import type { AnyReadTable, ReadTable } from '../define/read-table.ts';
import type { Position } from '../log/types.ts';
import {
  type Condition,
  columnType,
  conditionOf,
  filtersStatus,
  notDeleted,
  statusCondition,
} from './conditions.ts';
import { schemaName } from './database.ts';
import { cleanText } from './row.ts';
import type { ScopedPool } from './scoped-pool.ts';
import { scopeColumn } from './table-shape.ts';

/** Writes SQL, runs none: statements go over sessions that are bound to a tenant. */
const compiler = new Kysely<unknown>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (database) => new PostgresIntrospector(database),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});

interface FoundRow {
  readonly resource: string;
  readonly revision: string;
}

export interface ReaderContext {
  readonly pool: ScopedPool;
  /** The collation in which text is compared without regard to case. */
  readonly collation: () => Promise<string>;
  /** Position of the table that readers see; null when it is where all tables are. */
  readonly positionOf: (name: string) => Position | null;
}

export interface ReaderOptions {
  /**
   * The position that a caller insists on. Tables that the others have left behind (stopped, or
   * waiting for a new version) are not read unless they have reached it.
   */
  readonly atLeast?: Position;
}

/**
 * The reads of one caller. Tenant and environment stand in every statement, and row-level security
 * holds even if they did not. Postgres away or a table not there yet: `Problem`
 * service_unavailable.
 */
export function createReader(
  context: ReaderContext,
  principal: Pick<Principal, 'tenantId' | 'environmentId'>,
  options: ReaderOptions = {},
): Reader {
  const run = async <Row>(table: AnyReadTable, statement: CompiledQuery, name?: string) => {
    assertReached(context, table, options.atLeast);
    return context.pool.query<Row>(principal, {
      text: statement.sql,
      values: [...statement.parameters],
      ...(name ? { name } : {}),
    });
  };
  const conditions = async (table: AnyReadTable, filters: readonly RowFilter[]) => {
    const collation = await context.collation();
    return filters.map((filter) => conditionOf(table, filter, collation));
  };
  return {
    async find<Row, Resource>(table: ReadTable<string, Row, Resource>, key: string) {
      const id = sql<boolean>`id = ${cleanText(key)}`;
      const statement = selectRow(table, principal, [id, notDeleted]).compile(compiler);
      return foundOf<Resource>((await run<FoundRow>(table, statement, `find_${table.name}`)).rows);
    },
    async first<Row, Resource>(
      table: ReadTable<string, Row, Resource>,
      filters: readonly RowFilter[],
    ) {
      const status = filtersStatus(filters) ? [] : [notDeleted];
      const all = [...(await conditions(table, filters)), ...status];
      const statement = sql`${selectRow(table, principal, all)} ${newest}`.compile(compiler);
      return foundOf<Resource>((await run<FoundRow>(table, statement)).rows);
    },
    async list<Row, Resource>(
      table: ReadTable<string, Row, Resource>,
      request: PageRequest,
      filters: readonly RowFilter[] = [],
    ) {
      const isAsked = request.status === undefined && filtersStatus(filters);
      const statement = pageOf(table, principal, request, [
        ...(await conditions(table, filters)),
        ...(isAsked ? [] : [statusCondition(request.status)]),
      ]);
      const { rows } = await run<{ resource: string | null; total: string }>(table, statement);
      return readPage<Resource>(rows, request);
    },
  };
}

function assertReached(
  { positionOf }: ReaderContext,
  table: AnyReadTable,
  atLeast: Position | undefined,
): void {
  if (atLeast === undefined) return;
  const position = positionOf(table.name);
  if (position === null || position >= atLeast) return;
  throw new Problem(
    'service_unavailable',
    `The read model ${table.name} has not reached position ${atLeast} yet. Retry later.`,
    { retryAfterSeconds: 5 },
  );
}

type Caller = Pick<Principal, 'tenantId' | 'environmentId'>;

const relation = (table: AnyReadTable): RawBuilder<unknown> => sql.id(schemaName, table.name);

const matching = (
  table: AnyReadTable,
  { tenantId, environmentId }: Caller,
  conditions: readonly Condition[],
): RawBuilder<unknown> =>
  sql.join(
    [
      sql`tenant_id = ${tenantId}`,
      ...(scopeColumn(table) === 'environment_id' ? [sql`environment_id = ${environmentId}`] : []),
      sql`resource is not null`,
      ...conditions,
    ],
    sql` and `,
  );

const selectRow = (
  table: AnyReadTable,
  caller: Caller,
  conditions: readonly Condition[],
): RawBuilder<unknown> =>
  sql`select resource, revision from ${relation(table)}
       where ${matching(table, caller, conditions)}`;

const newest = sql`order by created_at desc, id desc limit 1`;

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

// The default order must match the index to the letter.
const isNeverNull = (column: string): boolean =>
  column === 'id' || column === 'created_at' || column === 'updated_at';

/**
 * One statement, so that the total and the page are of one and the same moment. The total comes
 * with every row, and on a row of its own when the page is empty.
 */
function pageOf(
  table: AnyReadTable,
  caller: Caller,
  request: PageRequest,
  conditions: readonly Condition[],
): CompiledQuery {
  const keys = sortKeys(table, request);
  const where = matching(table, caller, conditions);
  const selected = keys.map(
    (key, index) => sql`${sql.ref(key.column)} as ${sql.id(`sort_${index}`)}`,
  );
  const inner = sql.join(keys.map((key) => ordering(key, sql.ref(key.column))));
  const outer = sql.join(keys.map((key, index) => ordering(key, sql.id('page', `sort_${index}`))));
  return sql`select page.resource, counted.total
       from (select count(*) as total from ${relation(table)} where ${where}) as counted
       left join (
         select resource, ${sql.join(selected)} from ${relation(table)} where ${where}
          order by ${inner} limit ${request.limit} offset ${request.offset}
       ) as page on true
      order by ${outer}`.compile(compiler);
}

function foundOf<Resource>(rows: readonly FoundRow[]): Found<Resource> | null {
  const [row] = rows;
  if (!row) return null;
  return { resource: JSON.parse(row.resource) as Resource, revision: Number(row.revision) };
}

function readPage<Resource>(
  rows: readonly { readonly resource: string | null; readonly total: string }[],
  { limit, offset }: PageRequest,
): Page<Resource> {
  const items = rows.flatMap(({ resource }) =>
    resource === null ? [] : [JSON.parse(resource) as Resource],
  );
  return { items, pagination: { limit, offset, total: Number(rows[0]?.total ?? 0) } };
}
