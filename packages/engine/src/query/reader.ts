import { invariant, Problem } from '@counterfoil/kernel';
import {
  type CompiledQuery,
  type QueryCreator,
  type RawBuilder,
  SelectQueryNode,
  sql,
} from 'kysely';
import { preparedName, schemaName } from '../database/database.ts';
import { anyStatement, statements } from '../database/statements.ts';
import type { Found, Place, Reader } from '../define/context.ts';
import type { AnyRowFilter, Page, PageRequest } from '../define/listing.ts';
import type { AnyProjection, ColumnTypes, Projection } from '../define/projection.ts';
import { isProjection, type ReadTable, type Selection, type Selects } from '../define/tables.ts';
import type { Position } from '../log/types.ts';
import type { PositionTracker } from '../projection/position-tracker.ts';
import { cleanText } from '../projection/row.ts';
import { scopeColumn } from '../projection/table-shape.ts';
import {
  type Condition,
  conditionsOf,
  filtersStatus,
  notDeleted,
  shown,
  statusCondition,
} from './conditions.ts';
import { type PageRow, pageOf } from './page-query.ts';
import type { ScopedPool } from './scoped-pool.ts';

interface FoundRow {
  readonly id: string;
  readonly resource: string;
  readonly revision: string;
}

export interface ReaderContext {
  readonly pool: ScopedPool;
  /** The collation in which text is compared without regard to case. */
  readonly collation: () => Promise<string>;
  readonly behindAt: PositionTracker['behindAt'];
  /** Offset from which on a page may be read from the end of the list. */
  readonly farOffset?: number | undefined;
}

/** Keys of one look-up at most: as many as a page has rows. */
const keysMaximum = 1_000;

/** Below it, skipping rows costs less than planning both ways. */
const defaultFarOffset = 5_000;

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
  principal: Place,
  options: ReaderOptions = {},
): Reader {
  const run = async <Row>(table: AnyProjection, statement: CompiledQuery, name?: string) => {
    assertReached(context, table, options.atLeast);
    return context.pool.query<Row>(principal, {
      text: statement.sql,
      values: [...statement.parameters],
      ...(name ? { name } : {}),
    });
  };
  const conditions = async (table: AnyProjection, filters: readonly AnyRowFilter[]) =>
    conditionsOf(table, filters, await context.collation());
  return {
    async find(table, key) {
      const id = sql<boolean>`id = ${cleanText(key)}`;
      const statement = selectRow(table, principal, [id, notDeleted]).compile(statements);
      return foundOf((await run<FoundRow>(table, statement, `find_${table.name}`)).rows);
    },
    async findMany<Row, Resource, Columns extends ColumnTypes>(
      table: Projection<string, Row, Resource, Columns>,
      keys: readonly string[],
    ) {
      const found = new Map<string, Resource>();
      for (let start = 0; start < keys.length; start += keysMaximum) {
        const some = keys.slice(start, start + keysMaximum).map(cleanText);
        const isOne = sql<boolean>`id = any(${sql.val(some)}::text[])`;
        const statement = selectRow(table, principal, [isOne, shown]).compile(statements);
        const { rows } = await run<FoundRow>(table, statement, `find_many_${table.name}`);
        for (const { id, resource } of rows) found.set(id, JSON.parse(resource) as Resource);
      }
      return found;
    },
    async ids(table, filters, maximum) {
      const all = [...inScope(table, principal), ...(await conditions(table, filters)), notDeleted];
      const statement = sql`select id from ${relation(table)}
        where ${hasResource} and ${sql.join(all, sql` and `)} limit ${maximum}`.compile(statements);
      const { rows } = await run<{ id: string }>(table, statement, preparedName(statement.sql));
      return rows.map(({ id }) => id);
    },
    async first(table, filters) {
      const status = filtersStatus(filters) ? [] : [notDeleted];
      const all = [...(await conditions(table, filters)), ...status];
      const statement = sql`${selectRow(table, principal, all)} ${newest}`.compile(statements);
      return foundOf((await run<FoundRow>(table, statement)).rows);
    },
    async list(table, request, filters = []) {
      const isAsked = request.status === undefined && filtersStatus(filters);
      const where = matching(table, principal, [
        ...(await conditions(table, filters)),
        isAsked ? shown : statusCondition(request.status),
      ]);
      const own = sql.join(inScope(table, principal), sql` and `);
      const query = { table, relation: relation(table), where, own, request };
      const isFar = request.offset >= (context.farOffset ?? defaultFarOffset);
      const { rows } = await run<PageRow>(table, pageOf(query, isFar));
      return readPage(rows, request);
    },
    async query<const Tables extends ReadTable, Row>(
      tables: readonly Tables[],
      select: (from: Selects<Tables>) => Selection<Row>,
    ) {
      for (const table of tables) {
        if (isProjection(table)) assertReached(context, table, options.atLeast);
      }
      const selection = select(narrowed(tables, principal));
      const node = selection.toOperationNode();
      invariant(SelectQueryNode.is(node) && node.limit, 'a query of several tables needs a limit');
      const { sql: text, parameters } = selection.compile();
      return (await context.pool.query<Row>(principal, { text, values: [...parameters] })).rows;
    },
  };
}

/**
 * A builder that finds under the name of each table what the caller may read of it. Not
 * materialized: the planner sees through the definition to the indexes of the table.
 */
export const narrowed = <Tables extends ReadTable>(
  tables: readonly Tables[],
  caller: Place,
): Selects<Tables> =>
  tables.reduce<QueryCreator<Record<string, object>>>((creator, table) => {
    const own = isProjection(table)
      ? matching(table, caller, [shown])
      : sql`environment_id = ${caller.environmentId}`;
    const rows = anyStatement
      .selectFrom(sql<object>`${sql.id(schemaName, table.name)}`.as('whole'))
      .selectAll()
      .where(sql<boolean>`${own}`);
    return creator.with(
      (name) => name(table.name).notMaterialized(),
      () => rows,
    );
  }, anyStatement) as unknown as Selects<Tables>;

function assertReached(
  { behindAt }: ReaderContext,
  table: AnyProjection,
  atLeast: Position | undefined,
): void {
  if (atLeast === undefined) return;
  const position = behindAt(table.name);
  if (position === null || position >= atLeast) return;
  throw new Problem(
    'service_unavailable',
    `The read model ${table.name} has not reached position ${atLeast} yet. Retry later.`,
    { retryAfterSeconds: 5 },
  );
}

const relation = (table: AnyProjection): RawBuilder<unknown> => sql.id(schemaName, table.name);

const inScope = (
  table: AnyProjection,
  { tenantId, environmentId }: Place,
): readonly RawBuilder<unknown>[] => [
  sql`tenant_id = ${tenantId}`,
  ...(scopeColumn(table) === 'environment_id' ? [sql`environment_id = ${environmentId}`] : []),
];

const matching = (
  table: AnyProjection,
  caller: Place,
  conditions: readonly Condition[],
): RawBuilder<unknown> => sql.join([...inScope(table, caller), ...conditions], sql` and `);

const selectRow = (
  table: AnyProjection,
  caller: Place,
  conditions: readonly Condition[],
): RawBuilder<unknown> =>
  sql`select id, resource, revision from ${relation(table)}
       where ${matching(table, caller, [hasResource, ...conditions])}`;

const hasResource = sql<boolean>`resource is not null`;

const newest = sql`order by created_at desc, id desc limit 1`;

function foundOf<Resource>(rows: readonly FoundRow[]): Found<Resource> | null {
  const [row] = rows;
  if (!row) return null;
  return { resource: JSON.parse(row.resource) as Resource, revision: Number(row.revision) };
}

function readPage<Resource>(
  rows: readonly PageRow[],
  { limit, offset }: PageRequest,
): Page<Resource> {
  const items = rows.flatMap(({ resource }) =>
    resource === null ? [] : [JSON.parse(resource) as Resource],
  );
  return { items, pagination: { limit, offset, total: Number(rows[0]?.total ?? 0) } };
}
