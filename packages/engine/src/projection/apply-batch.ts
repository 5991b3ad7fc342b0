import type { AnyAggregate } from '@counterfoil/kernel';
import { type Connection, transaction } from '../database/database.ts';
import { isStatementFault } from '../database/database-errors.ts';
import type { Position, StoredEvent } from '../log/types.ts';
import {
  categoryOf,
  type DecodedEvents,
  decodeEvents,
  foldSteps,
  type Plan,
  type Poison,
  planSteps,
  type Rows,
} from './fold.ts';
import type { Row, RowPlace } from './row.ts';
import type { RowCache } from './row-cache.ts';
import {
  loadRows,
  removeRows,
  saveRows,
  type Target,
  UnfitRow,
  type Weighed,
} from './row-store.ts';

/** What stopped a table, as operators and the checkpoint row see it. */
export interface StopReason {
  readonly message: string;
  readonly event_id: string;
  readonly type: string;
  readonly stream: string;
  readonly revision: number;
  readonly position: string;
}

/** A table that met an event it cannot take. Everything before that event has been applied. */
export interface Stopped<Key extends Target> {
  readonly target: Key;
  readonly reason: StopReason;
  /** Position of the last event of the batch before the poison one; null when there is none. */
  readonly lastGood: Position | null;
}

export interface BatchContext {
  readonly connection: Connection;
  readonly cache: RowCache;
}

/** Rows to put into the cache once the transaction has been committed. */
interface Pending {
  readonly relation: string;
  readonly saved: readonly Weighed[];
  readonly removed: readonly Row[];
}

/**
 * Applies a batch of events to the tables and calls `finish`, which moves the checkpoints, all in
 * one transaction. A table whose fold, view or row fails is given back as stopped, with what came
 * before applied; the others are not concerned. Throws when the transaction as a whole fails:
 * then nothing has happened.
 */
export async function applyBatch<Key extends Target>(
  context: BatchContext,
  targets: readonly Key[],
  events: readonly StoredEvent[],
  finish: (stopped: readonly Stopped<Key>[]) => Promise<void>,
): Promise<readonly Stopped<Key>[]> {
  try {
    return await runBatch(context, targets, events, finish, applyTogether);
  } catch (error) {
    context.cache.clear();
    if (!isRowFault(error)) throw error;
  }
  // One table's rows made the whole transaction fail. The slow way finds out which, and where.
  try {
    return await runBatch(context, targets, events, finish, applyInTurn);
  } catch (error) {
    context.cache.clear();
    throw error;
  }
}

/** The events of a batch that concern one table. */
interface Work<Key extends Target> {
  readonly target: Key;
  readonly batch: DecodedEvents;
}

/** What came of one table's work. */
interface Applied {
  readonly pending: readonly Pending[];
  readonly poison: Poison | null;
}

type TableStep = (context: BatchContext, target: Target, batch: DecodedEvents) => Promise<Applied>;

/** Does the work of all tables; results in the order of the work. */
type BatchStep = <Key extends Target>(
  context: BatchContext,
  work: readonly Work<Key>[],
) => Promise<readonly { readonly target: Key; readonly result: Applied }[]>;

/**
 * The fast way: while Postgres is busy with the rows of one table, the next one is folded. Their
 * statements queue on the one connection. Everything has come to its end when this returns or
 * throws, for a statement that is still under way would fall into the next transaction.
 */
const applyTogether: BatchStep = async (context, work) => {
  const errors: unknown[] = [];
  const results = await Promise.all(
    work.map(async ({ target, batch }) => {
      try {
        return [{ target, result: await applyTable(context, target, batch) }];
      } catch (error) {
        errors.push(error);
        return [];
      }
    }),
  );
  // The first error in time is the cause; later statements fail because the transaction has.
  if (errors.length > 0) throw errors[0];
  return results.flat();
};

/** The slow way, one table after the other. */
const applyInTurn: BatchStep = async (context, work) => {
  const results = [];
  for (const { target, batch } of work) {
    results.push({ target, result: await applyTableGuarded(context, target, batch) });
  }
  return results;
};

async function runBatch<Key extends Target>(
  context: BatchContext,
  targets: readonly Key[],
  events: readonly StoredEvent[],
  finish: (stopped: readonly Stopped<Key>[]) => Promise<void>,
  apply: BatchStep,
): Promise<readonly Stopped<Key>[]> {
  const byCategory = groupByCategory(events);
  const decoded = new Map<AnyAggregate, DecodedEvents>();
  const pending: Pending[] = [];
  const stopped: Stopped<Key>[] = [];
  await transaction(context.connection, async () => {
    const work = targets.flatMap((target) => {
      const { aggregate } = target.table;
      const own = byCategory.get(aggregate.name);
      if (!own) return [];
      const batch = decoded.get(aggregate) ?? decodeEvents(aggregate, own);
      decoded.set(aggregate, batch);
      return [{ target, batch }];
    });
    for (const { target, result } of await apply(context, work)) {
      pending.push(...result.pending);
      if (result.poison) stopped.push(stoppedBy(target, result.poison, events));
    }
    await finish(stopped);
  });
  remember(context.cache, pending);
  return stopped;
}

function remember(cache: RowCache, pending: readonly Pending[]): void {
  for (const { relation, saved, removed } of pending) {
    for (const weighed of saved) cache.set(relation, weighed.row.key, weighed);
    for (const { key } of removed) cache.remove(relation, key);
  }
}

/**
 * Applies events of one table inside a transaction of the caller, who has to clear the cache
 * when he rolls back. Gives the event that the table cannot take, if any.
 */
export async function applyInside(
  context: BatchContext,
  target: Target,
  events: readonly StoredEvent[],
): Promise<Poison | null> {
  const batch = decodeEvents(target.table.aggregate, events);
  const { pending, poison } = await applyTableGuarded(context, target, batch);
  remember(context.cache, pending);
  return poison;
}

function groupByCategory(events: readonly StoredEvent[]): ReadonlyMap<string, StoredEvent[]> {
  const groups = new Map<string, StoredEvent[]>();
  for (const event of events) {
    const category = categoryOf(event.stream);
    const group = groups.get(category);
    if (group) group.push(event);
    else groups.set(category, [event]);
  }
  return groups;
}

function stoppedBy<Key extends Target>(
  target: Key,
  { event, error }: Poison,
  events: readonly StoredEvent[],
): Stopped<Key> {
  const before = events.findLast((other) => other.position < event.position);
  return {
    target,
    lastGood: before?.position ?? null,
    reason: {
      message: error instanceof Error ? error.message : String(error),
      event_id: event.id,
      type: event.type,
      stream: event.stream,
      revision: event.revision,
      position: String(event.position),
    },
  };
}

/** One read, one fold, one write for all events of a table. */
const applyTable: TableStep = async (context, target, batch) => {
  const plan = planSteps(target.table, batch);
  const { changed, before, poison } = await foldEvents(context, target, plan);
  return { pending: [await writeRows(context, target, changed, before)], poison };
};

/**
 * The slow way, for a batch that failed: each table behind a savepoint of its own, and a table that
 * fails event by event, so that the one at fault is named and everything before it is kept.
 */
const applyTableGuarded: TableStep = async (context, target, batch) => {
  const whole = await guarded(context, () => applyTable(context, target, batch));
  if (!('error' in whole)) return whole.result;
  const pending: Pending[] = [];
  for (const event of batch.events) {
    context.cache.clear();
    const single = { events: [event], poison: null };
    const one = await guarded(context, () => applyTable(context, target, single));
    if ('error' in one) return { pending, poison: { event: event.stored, error: one.error } };
    pending.push(...one.result.pending);
    if (one.result.poison) return { pending, poison: one.result.poison };
  }
  return { pending, poison: batch.poison };
};

const isRowFault = (error: unknown): boolean =>
  error instanceof UnfitRow || isStatementFault(error);

/** Runs work behind a savepoint; gives the error back when it is the statement's own fault. */
async function guarded<Result>(
  { connection }: BatchContext,
  work: () => Promise<Result>,
): Promise<{ readonly result: Result } | { readonly error: unknown }> {
  await connection.query('savepoint attempt');
  try {
    const result = await work();
    await connection.query('release savepoint attempt');
    return { result };
  } catch (error) {
    if (!isRowFault(error)) throw error;
    await connection.query('rollback to savepoint attempt');
    return { error };
  }
}

async function foldEvents({ connection, cache }: BatchContext, target: Target, plan: Plan) {
  const before = new Map<string, Row>();
  const missing = new Map<string, RowPlace>();
  for (const { places } of plan.steps) {
    for (const place of places) {
      if (before.has(place.key)) continue;
      const row = cache.get(target.relation, place.key);
      if (row) before.set(place.key, row);
      else missing.set(place.key, place);
    }
  }
  if (missing.size > 0) {
    const loaded = await loadRows(connection, target, [...missing.values()]);
    for (const [key, { row }] of loaded) before.set(key, row);
  }
  const folded = foldSteps(target.table, plan, (key) => before.get(key) ?? null);
  return { ...folded, before };
}

async function writeRows(
  { connection }: BatchContext,
  target: Target,
  changed: Rows,
  before: ReadonlyMap<string, Row>,
): Promise<Pending> {
  const kept = [...changed.values()].filter((row) => row !== null);
  const fresh = kept.filter(({ key }) => !before.has(key));
  const known = kept.filter(({ key }) => before.has(key));
  // New rows are not remembered: most are never touched again and would only burden the collector.
  await saveRows(connection, target, fresh, 'insert');
  const saved = await saveRows(connection, target, known, 'update');
  const removed = [...changed].flatMap(([key, row]) => {
    const old = row === null ? before.get(key) : undefined;
    return old ? [old] : [];
  });
  if (removed.length > 0) await removeRows(connection, target, removed);
  return { relation: target.relation, saved, removed };
}
