import { messageOf, whenAllEnded } from '../consume/run-forever.ts';
import { transactionAtOnce } from '../database/database.ts';
import { isStatementFault } from '../database/database-errors.ts';
import type { Position, StoredEvent } from '../log/types.ts';
import { Batch } from './fold.ts';
import { Unfit } from './row.ts';
import type { Target } from './row-store.ts';
import {
  type BatchContext,
  foldPlan,
  type Pending,
  planTable,
  remember,
  writeTable,
} from './table-change.ts';

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

/** The outcome of one table's work. */
interface Applied {
  readonly pending: readonly Pending[];
  readonly poison: Poison | null;
}

/** The transaction of a batch. */
interface BatchTransaction {
  /** Nothing is written before it resolves. */
  readonly begun: Promise<unknown>;
  /** Moves the checkpoints, given the poison that each table met. */
  readonly finish: (poisons: readonly (Poison | null)[]) => Promise<void>;
}

/** Does the work of all tables, and moves the checkpoints; results in the order of the tables. */
type BatchStep = (
  context: BatchContext,
  targets: readonly Target[],
  batch: Batch,
  transaction: BatchTransaction,
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
    await transactionAtOnce(context.connection, async (begun) => {
      results = await step(context, targets, new Batch(events), {
        begun,
        finish: (poisons) => {
          stopped = targets.flatMap((target, index) => {
            const poison = poisons[index];
            return poison ? [stoppedBy(target, poison, events)] : [];
          });
          return finish(stopped);
        },
      });
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
export const isFault = (error: unknown): boolean =>
  error instanceof Unfit || isStatementFault(error);

/**
 * The fast way, in three round trips: the begin with all that is read, all that is written, and the commit. While
 * Postgres is busy with the rows of one table, the next one is folded. Everything has come to its end when this
 * returns or throws, for a statement that is still to be sent would fall into the next transaction.
 */
const applyTogether: BatchStep = async (context, targets, batch, { begun, finish }) => {
  const applied = targets.map(
    async (target): Promise<Applied> => ({
      pending: await applyTable(context, target, batch, { begun, trusts: true }),
      poison: null,
    }),
  );
  // The first error in time is the cause; later statements fail because the transaction has.
  await whenAllEnded([begun.then(() => finish([])), ...applied]);
  return Promise.all(applied);
};

/** The slow way: one table after the other, so that a fault of one leaves the others alone. */
const applyInTurn: BatchStep = async (context, targets, batch, { begun, finish }) => {
  await begun;
  const results: Applied[] = [];
  for (const target of targets) results.push(await applyGuarded(context, target, batch));
  await finish(results.map(({ poison }) => poison));
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
  const whole = await guarded(context, () => applyTable(context, target, batch, { trusts: true }));
  if ('result' in whole) return { pending: whole.result, poison: null };
  const pending: Pending[] = [];
  for (const event of batch.storedFor(target.table)) {
    context.cache.clear();
    const one = await guarded(context, () =>
      applyTable(context, target, new Batch([event]), { trusts: false }),
    );
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

/** The begin of a transaction that has begun already. */
const already = Promise.resolve();

interface TableOptions {
  /** The begin of the transaction; absent in one that has begun. */
  readonly begun?: Promise<unknown>;
  /** True when rows that the projection says to be new are not looked for. */
  readonly trusts: boolean;
}

/**
 * One read, one fold, one write for all events of a table. Reads at once, and writes when the transaction has begun.
 * Throws `Unfit` when the table cannot take them.
 */
async function applyTable(
  context: BatchContext,
  target: Target,
  batch: Batch,
  { begun = already, trusts }: TableOptions,
): Promise<readonly Pending[]> {
  const plan = planTable(context, target, batch, { trusts });
  if (plan.steps.length === 0) return [];
  await whenAllEnded([plan.loading, begun]);
  return [await writeTable(context.connection, foldPlan(plan, await plan.loading))];
}
