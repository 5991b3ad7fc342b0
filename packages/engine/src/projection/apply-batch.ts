import { messageOf } from '../consume/run-forever.ts';
import { type Connection, transaction } from '../database/database.ts';
import { isStatementFault } from '../database/database-errors.ts';
import type { Position, StoredEvent } from '../log/types.ts';
import { Batch, foldSteps, planSteps } from './fold.ts';
import { fitting, type Row, type RowPlace, Unfit } from './row.ts';
import type { RowCache } from './row-store.ts';
import { loadRows, removeRows, saveRows, type Target, type Weighed } from './row-store.ts';

/** The reason why a table was stopped, as operators and the checkpoint row see it. */
export interface StopReason {
  readonly message: string;
  readonly stream: string;
  readonly revision: number;
  /** Of an event that could be read. */
  readonly event_id?: string;
  readonly type?: string;
  readonly position?: string;
}

/** A table that met an event it cannot take. Everything before that event has been applied. */
export interface Stopped<Key extends Target> {
  readonly target: Key;
  readonly reason: StopReason;
  /** Position of the last event of the batch before the poison one; null when there is none. */
  readonly lastGood: Position | null;
}

/** An event that a table cannot take, and why. */
export interface Poison {
  readonly event: StoredEvent;
  readonly error: unknown;
}

export interface BatchContext {
  readonly connection: Connection;
  readonly cache: RowCache;
}

/** Rows to put into the cache, or to take out of it, once the transaction has been committed. */
interface Pending {
  readonly relation: string;
  readonly saved: readonly Weighed[];
  readonly removed: readonly string[];
}

/** The outcome of one table's work. */
interface Applied {
  readonly pending: readonly Pending[];
  readonly poison: Poison | null;
}

/** Does the work of all tables; results in the order of the tables. */
type BatchStep = (
  context: BatchContext,
  targets: readonly Target[],
  batch: Batch,
) => Promise<readonly Applied[]>;

/**
 * Applies a batch of events to the tables and calls `finish`, which moves the checkpoints, all in
 * one transaction. A table that cannot take an event is given back as stopped, with what came
 * before applied; the others are not concerned. Throws when the transaction as a whole fails:
 * then nothing has happened.
 */
export async function applyBatch<Key extends Target>(
  context: BatchContext,
  targets: readonly Key[],
  events: readonly StoredEvent[],
  finish: (stopped: readonly Stopped<Key>[]) => Promise<void>,
): Promise<readonly Stopped<Key>[]> {
  const run = async (step: BatchStep): Promise<readonly Stopped<Key>[]> => {
    let results: readonly Applied[] = [];
    let stopped: readonly Stopped<Key>[] = [];
    await transaction(context.connection, async () => {
      results = await step(context, targets, new Batch(events));
      stopped = targets.flatMap((target, index) => {
        const poison = results[index]?.poison;
        return poison ? [stoppedBy(target, poison, events)] : [];
      });
      await finish(stopped);
    });
    for (const { pending } of results) remember(context.cache, pending);
    return stopped;
  };
  try {
    return await run(applyTogether);
  } catch (error) {
    context.cache.clear();
    if (!isFault(error)) throw error;
  }
  // Some table cannot take some event, and nothing has happened yet. The slow way finds out which.
  try {
    return await run(applyInTurn);
  } catch (error) {
    context.cache.clear();
    throw error;
  }
}

/**
 * Tells whether a table, or one of its rows, is at fault: not the connection, the disk or another
 * session.
 */
const isFault = (error: unknown): boolean => error instanceof Unfit || isStatementFault(error);

/**
 * The fast way: while Postgres is busy with the rows of one table, the next one is folded. Their
 * statements queue on the one connection. Everything has come to its end when this returns or
 * throws, for a statement that is still under way would fall into the next transaction.
 */
const applyTogether: BatchStep = async (context, targets, batch) => {
  const errors: unknown[] = [];
  const results = await Promise.all(
    targets.map(async (target): Promise<Applied> => {
      const pending = await applyTable(context, target, batch).catch((error: unknown) => {
        errors.push(error);
        return [];
      });
      return { pending, poison: null };
    }),
  );
  // The first error in time is the cause; later statements fail because the transaction has.
  if (errors.length > 0) throw errors[0];
  return results;
};

/** The slow way: one table after the other, so that a fault of one leaves the others alone. */
const applyInTurn: BatchStep = async (context, targets, batch) => {
  const results: Applied[] = [];
  for (const target of targets) results.push(await applyGuarded(context, target, batch));
  return results;
};

/**
 * Applies events to one table inside a transaction of the caller, who has to clear the cache
 * when it rolls back. Returns the event that the table cannot take, if any.
 */
export async function applyInside(
  context: BatchContext,
  target: Target,
  events: readonly StoredEvent[],
): Promise<Poison | null> {
  const { pending, poison } = await applyGuarded(context, target, new Batch(events));
  remember(context.cache, pending);
  return poison;
}

function remember(cache: RowCache, pending: readonly Pending[]): void {
  for (const { relation, saved, removed } of pending) {
    for (const weighed of saved) cache.set(relation, weighed.row.key, weighed);
    for (const key of removed) cache.remove(relation, key);
  }
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
      message: messageOf(error),
      stream: event.stream,
      revision: event.revision,
      event_id: event.id,
      type: event.type,
      position: String(event.position),
    },
  };
}

/**
 * One table behind a savepoint. If it fails it is taken event by event, so that the one at fault is named
 * and everything before it is kept.
 */
async function applyGuarded(context: BatchContext, target: Target, batch: Batch): Promise<Applied> {
  const whole = await guarded(context, () => applyTable(context, target, batch));
  if ('result' in whole) return { pending: whole.result, poison: null };
  const pending: Pending[] = [];
  for (const event of batch.storedFor(target.table)) {
    context.cache.clear();
    const one = await guarded(context, () => applyTable(context, target, new Batch([event])));
    if ('error' in one) return { pending, poison: { event, error: one.error } };
    pending.push(...one.result);
  }
  return { pending, poison: null };
}

/** Runs work behind a savepoint; gives the error back when a table or row is at fault. */
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
    if (!isFault(error)) throw error;
    await connection.query('rollback to savepoint attempt');
    return { error: error instanceof Unfit ? error.cause : error };
  }
}

/** One read, one fold, one write for all events of a table. Throws `Unfit` when it cannot take them. */
async function applyTable(
  { connection, cache }: BatchContext,
  target: Target,
  batch: Batch,
): Promise<readonly Pending[]> {
  const { table, relation } = target;
  const steps = fitting(() => planSteps(table, batch.eventsFor(table)));
  if (steps.length === 0) return [];
  const before = new Map<string, Row>();
  const missing = new Map<string, RowPlace>();
  for (const place of steps.flatMap(({ places }) => places)) {
    const row = cache.get(relation, place.key);
    if (row) before.set(place.key, row);
    else missing.set(place.key, place);
  }
  if (missing.size > 0) {
    for (const row of await loadRows(connection, target, [...missing.values()])) {
      before.set(row.key, row);
    }
  }
  const changed = fitting(() => foldSteps(table, steps, (key) => before.get(key) ?? null));
  const kept = [...changed.values()].filter((row) => row !== null);
  const added = kept.filter(({ key }) => !before.has(key));
  const inserted = await saveRows(connection, target, added, 'insert');
  const known = kept.filter(({ key }) => before.has(key));
  const updated = await saveRows(connection, target, known, 'update');
  // Rows that come to rest would only burden the collector.
  const saved = [...inserted, ...updated].filter(({ row }) => !table.rests?.(row.state));
  const removed = [...before.values()].filter(({ key }) => changed.get(key) === null);
  if (removed.length > 0) await removeRows(connection, target, removed);
  return [{ relation, saved, removed: removed.map(({ key }) => key) }];
}
