import type {
  AnyProjection,
  AnyRowFilter,
  DueWork,
  Found,
  Page,
  PageRequest,
  Principal,
  Reader,
  ReadTable,
  RequestContext,
} from '@counterfoil/engine/define';
import { isProjection, Parts } from '@counterfoil/engine/define';
import { type AnyAggregate, type Instant, instantOf, invariant } from '@counterfoil/kernel';
import { RecentWrites } from '../../engine/src/decide/read-your-writes.ts';
import { RequestRunner } from '../../engine/src/decide/request-run.ts';
import { createStreams } from '../../engine/src/decide/streams.ts';
import { belongsTo, stampedEvent } from '../../engine/src/log/decode.ts';
import { parseStreamName } from '../../engine/src/log/stream-name.ts';
import { MemoryStore } from './memory-store.ts';

/** The command side of the engine over a log in memory, for tests of route handlers. */
export interface MemoryWorld {
  readonly store: MemoryStore;
  /** The clock. It stands still unless a test moves it. */
  now: Instant;
  /** A request of a caller, as its handler sees it. Without a key it is not idempotent. */
  request(principal: Principal, idempotency?: Idempotency): RequestContext;
}

export interface Idempotency {
  readonly key: string;
  readonly operation: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Shared by all worlds, because it is large: reads in memory are never behind, so it is not asked. */
const recentWrites = new RecentWrites();
const aheadOfAll = 2n ** 63n;
/** Streams of one world that are kept folded. */
const idleStreams = 1_000;

/**
 * A world with nothing in it, or another process over a log that is there already. Commands run on
 * the engine's own stream writers; reads fold what is new in the log first, so they are never behind. They
 * know the filters `eq`, `in`, `contains` (of texts), `metadata` and the comparisons (of instants).
 */
export function memoryWorld(
  aggregates: readonly AnyAggregate[],
  store = new MemoryStore(),
  parts = new Parts(),
): MemoryWorld {
  const world = { store, now: instantOf(Date.parse('2026-01-01T00:00:00.000Z')) };
  const now = () => Date.parse(world.now);
  const options = {
    streams: createStreams({ store, aggregates, now, idleStreams, parts }),
    readSide: {
      reader: (principal: Principal) => memoryReader(store, principal),
      projected: {
        // Ahead of every log, because the writes of all worlds are remembered together.
        position: () => aheadOfAll,
        waitFor: () => Promise.resolve(true),
      },
    },
    recentWrites,
    now,
  };
  return Object.assign(world, {
    request: (principal: Principal, idempotency?: Idempotency) =>
      new RequestRunner(options, {
        principal,
        requestId: 'req_1',
        receivedAt: world.now,
        route: 'GET /',
        operation: idempotency?.operation ?? '',
        idempotencyKey: idempotency?.key ?? null,
        fields: idempotency?.fields ?? {},
        ifMatch: null,
        minimumPosition: null,
      }).context,
  });
}

type Resource = Readonly<Record<string, unknown>>;
type Shown = Found<Resource> & { readonly key: string; readonly row: unknown };

/** The rows of a table, as far as they have been folded. */
interface Folded {
  upTo: number;
  readonly rows: Map<string, Shown>;
}

/** A row as it is shown. That is worked out when somebody looks, and kept: most rows stay while others change. */
function shownRow(table: AnyProjection, key: string, row: unknown, revision: number): Shown {
  let resource: Resource | null = null;
  return {
    ...{ key, row, revision },
    get resource() {
      resource ??= table.view(row) as Resource;
      return resource;
    },
  };
}

/** The columns of rows that somebody has looked at. */
const columnsOf = new WeakMap<Shown, Map<string, unknown>>();

/** The value of a column of a row; undefined where it is no column of the table. */
function columnOf(table: AnyProjection, shown: Shown, column: string): unknown {
  const known = columnsOf.get(shown) ?? new Map<string, unknown>();
  columnsOf.set(shown, known);
  if (!known.has(column)) {
    known.set(column, table.columns[column]?.of(shown.resource, shown.row));
  }
  return known.get(column);
}

/** The folded rows of each log, by table and scope: no event is folded twice. */
const foldedOf = new WeakMap<MemoryStore, Map<AnyProjection, Map<string, Folded>>>();

function folded(table: AnyProjection, store: MemoryStore, scope: string): Folded {
  const tables = foldedOf.get(store) ?? new Map<AnyProjection, Map<string, Folded>>();
  foldedOf.set(store, tables);
  const scopes = tables.get(table) ?? new Map<string, Folded>();
  tables.set(table, scopes);
  const known = scopes.get(scope) ?? { upTo: 0, rows: new Map() };
  scopes.set(scope, known);
  return known;
}

/** The rows of a table in one tenant or environment, oldest first. */
function rowsOf(table: AnyProjection, store: MemoryStore, scope: string): Shown[] {
  const known = folded(table, store, scope);
  const { rows } = known;
  for (; known.upTo < store.log.length; known.upTo += 1) {
    const stored = store.log[known.upTo];
    const stream = stored && parseStreamName(stored.stream);
    const aggregate = table.aggregates.find(({ name }) => name === stream?.category);
    if (!stored || !stream || !aggregate || stream.scope !== scope) continue;
    // An event that the engine keeps for itself in the stream of a record changes no row.
    if (!belongsTo(aggregate, stored)) continue;
    const event = {
      ...stampedEvent(aggregate, stored),
      aggregate: aggregate.name,
      event_id: stored.id,
      aggregate_id: stream.id,
      revision: stored.revision,
      position: String(stored.position),
    };
    for (const key of table.keys(event)) {
      const row = table.fold(rows.get(key)?.row ?? null, event, key);
      rows.set(key, shownRow(table, key, row, stored.revision));
    }
  }
  return [...rows.values()].filter(({ row }) => row !== null);
}

/** The rows of due work up to an instant, earliest first: those that the projector finds in its tables. */
export function memoryDueRows(
  store: MemoryStore,
  { table, column }: DueWork,
  { tenantId, environmentId }: Pick<Principal, 'tenantId' | 'environmentId'>,
  upTo: Instant,
) {
  return rowsOf(table, store, environmentId)
    .flatMap((shown) => {
      const due_at = (columnOf(table, shown, column) ?? null) as Instant | null;
      if (due_at === null || due_at > upTo) return [];
      const owner = { tenant_id: tenantId, environment_id: environmentId };
      return [{ id: shown.key, ...owner, revision: String(shown.revision), due_at }];
    })
    .toSorted((left, right) => (left.due_at < right.due_at ? -1 : 1));
}

function memoryReader(store: MemoryStore, principal: Principal): Reader {
  const rows = (table: AnyProjection, filters: readonly AnyRowFilter[] = []): Shown[] => {
    const { tenantId, environmentId } = principal;
    return rowsOf(table, store, table.aggregates[0]?.scope === 'tenant' ? tenantId : environmentId)
      .filter((shown) => filters.every((filter) => fits(table, shown, filter)))
      .reverse();
  };
  return {
    find: async (table: AnyProjection, key: string) =>
      rows(table).find((row) => row.key === key && row.resource.status !== 'deleted') ?? null,
    findMany: async (table: AnyProjection, keys: readonly string[]) =>
      new Map(
        rows(table)
          .filter(({ key }) => keys.includes(key))
          .map(({ key, resource }) => [key, resource]),
      ),
    ids: async (table: AnyProjection, filters: readonly AnyRowFilter[], maximum: number) =>
      rows(table, filters)
        .filter(({ resource }) => resource.status !== 'deleted')
        .map(({ key }) => key)
        .slice(0, maximum),
    first: async (table: AnyProjection, filters: readonly AnyRowFilter[]) =>
      rows(table, filters)[0] ?? null,
    list: async (
      table: AnyProjection,
      { limit, offset, sort = [], status = ['published'] }: PageRequest,
      filters?: readonly AnyRowFilter[],
    ): Promise<Page<unknown>> => {
      // The query of a request is no page: the tables would refuse it as well.
      invariant(Array.isArray(sort), `${table.name} is sorted by columns, not by ${sort}`);
      const found = sorted(table, rows(table, filters), sort)
        .map(({ resource }) => resource)
        .filter((resource) => status.includes(String(resource.status)));
      const pagination = { limit, offset, total: found.length };
      return { items: found.slice(offset, offset + limit), pagination };
    },
    // Nothing fills operational tables in memory, and there is nothing to join rows with.
    query: async (tables: readonly ReadTable[]) => {
      if (tables.some((table) => !isProjection(table))) return [];
      throw new RangeError('reads in memory do not know joins');
    },
  } as Reader;
}

/** Rows in the order of columns of texts; as they were where none is named. */
const sorted = (
  table: AnyProjection,
  rows: readonly Shown[],
  sort: NonNullable<PageRequest['sort']>,
): readonly Shown[] => {
  const textIn = (shown: Shown, column: string): string =>
    String(columnOf(table, shown, column) ?? shown.resource[column] ?? '');
  const compare = (left: Shown, right: Shown): number => {
    for (const { column, order } of sort) {
      const [one, other] = [textIn(left, column), textIn(right, column)];
      if (one !== other) return one < other === (order === 'asc') ? -1 : 1;
    }
    return 0;
  };
  return rows.toSorted(compare);
};

function fits(
  table: AnyProjection,
  shown: Shown,
  { column, operator, value }: AnyRowFilter,
): boolean {
  const actual: unknown = columnOf(table, shown, column) ?? shown.resource[column];
  switch (operator) {
    case 'eq':
      return actual === value;
    case 'in':
      return [actual].flat().some((item) => (value as unknown[]).includes(item));
    case 'not_in':
      return ![actual].flat().some((item) => (value as unknown[]).includes(item));
    case 'contains':
      return String(actual ?? '')
        .toLowerCase()
        .includes(String(value).toLowerCase());
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return typeof actual === 'string' && isOrdered(actual, operator, String(value));
    case 'metadata':
      return Object.entries(value as object).every(
        ([name, text]) => (actual as Record<string, unknown>)[name] === text,
      );
    default:
      throw new RangeError(`reads in memory do not know the filter ${operator}`);
  }
}

/** Compares texts, which is right for instants and wrong for numbers. */
function isOrdered(actual: string, operator: 'gt' | 'gte' | 'lt' | 'lte', value: string): boolean {
  switch (operator) {
    case 'gt':
      return actual > value;
    case 'gte':
      return actual >= value;
    case 'lt':
      return actual < value;
    case 'lte':
      return actual <= value;
    default:
      return operator satisfies never;
  }
}
