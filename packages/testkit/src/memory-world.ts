import { type AnyAggregate, type Instant, instantOf, invariant } from '@counterfoil/kernel';
import { RecentWrites } from '../../engine/src/command/recent-writes.ts';
import { RequestRunner } from '../../engine/src/command/request-run.ts';
import { createStreams } from '../../engine/src/command/streams.ts';
import type {
  AnyReadTable,
  Page,
  PageRequest,
  Principal,
  Reader,
  RequestContext,
  RowFilter,
} from '../../engine/src/define/index.ts';
import { foldSteps, planSteps } from '../../engine/src/projection/fold.ts';
import type { Row } from '../../engine/src/projection/row.ts';
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

/**
 * A world with nothing in it. Commands run on the engine's own stream writers; reads fold the log
 * anew each time, so they are never behind. They know the filters `eq`, `in` and `metadata`.
 */
export function memoryWorld(aggregates: readonly AnyAggregate[]): MemoryWorld {
  const store = new MemoryStore();
  const world = { store, now: instantOf(Date.parse('2026-01-01T00:00:00.000Z')) };
  const now = () => Date.parse(world.now);
  const options = {
    streams: createStreams({ store, aggregates, now }),
    readSide: {
      reader: (principal: Principal) => memoryReader(store, principal),
      projected: {
        position: () => BigInt(store.log.length),
        waitFor: () => Promise.resolve(true),
      },
    },
    recentWrites: new RecentWrites(),
    now,
  };
  return Object.assign(world, {
    request: (principal: Principal, idempotency?: Idempotency) =>
      new RequestRunner(options, {
        principal,
        requestId: 'req_1',
        now: world.now,
        route: 'GET /',
        operation: idempotency?.operation ?? '',
        idempotencyKey: idempotency?.key ?? null,
        fields: idempotency?.fields ?? {},
        ifMatch: null,
        minimumPosition: null,
      }).context,
  });
}

type Shown = Row & { readonly resource: NonNullable<Row['resource']> };

function memoryReader(store: MemoryStore, principal: Principal): Reader {
  const shown = (table: AnyReadTable): Shown[] => {
    const { name, scope } = table.aggregate;
    const own = scope === 'tenant' ? principal.tenantId : principal.environmentId;
    const events = store.log.filter(({ stream }) => stream.startsWith(`${name}-${own}.`));
    const { changed, poison } = foldSteps(table, planSteps(table, events), () => null);
    invariant(!poison, `the table ${table.name} cannot take an event`);
    return [...changed.values()].filter(
      (row): row is Shown => row !== null && row.resource !== null,
    );
  };
  const list = (table: AnyReadTable, request: PageRequest, filters: readonly RowFilter[] = []) => {
    const status = request.status ?? ['published'];
    const rows = shown(table)
      .filter(({ resource }) => status.includes(String(resource.status)))
      .filter((row) => filters.every((filter) => fits(table, row, filter)))
      .toSorted((left, right) => (left.createdAt < right.createdAt ? 1 : -1));
    const { limit, offset } = request;
    const items = rows.slice(offset, offset + limit).map(({ resource }) => resource);
    return { items, pagination: { limit, offset, total: rows.length } };
  };
  return {
    find: async (table: AnyReadTable, key: string) =>
      shown(table).find(({ id, resource }) => id === key && resource.status !== 'deleted') ?? null,
    first: async (table: AnyReadTable, filters: readonly RowFilter[]) =>
      shown(table).findLast((row) => filters.every((filter) => fits(table, row, filter))) ?? null,
    list: async (table: AnyReadTable, request: PageRequest, filters?: readonly RowFilter[]) =>
      list(table, request, filters) as Page<unknown>,
  } as Reader;
}

function fits(
  table: AnyReadTable,
  { resource }: Shown,
  { column, operator, value }: RowFilter,
): boolean {
  const actual = table.columns[column]?.of(resource) ?? resource[column];
  switch (operator) {
    case 'eq':
      return actual === value;
    case 'in':
      return [actual].flat().some((item) => (value as unknown[]).includes(item));
    case 'metadata':
      return Object.entries(value as object).every(
        ([name, text]) => (actual as Record<string, unknown>)[name] === text,
      );
    default:
      throw new RangeError(`reads in memory do not know the filter ${operator}`);
  }
}
