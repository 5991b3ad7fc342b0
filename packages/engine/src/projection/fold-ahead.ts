import { setImmediate as nextTurn } from 'node:timers/promises';
import { whenAllEnded } from '../consume/run-forever.ts';
import { transactionAtOnce } from '../database/database.ts';
import type { StoredEvent } from '../log/types.ts';
import { applyBatch, isFault, type Stopped } from './apply-batch.ts';
import { Batch } from './fold.ts';
import type { Target } from './row-store.ts';
import {
  type BatchContext,
  foldPlan,
  madeReady,
  planTable,
  remember,
  type TableChange,
  writeTable,
} from './table-change.ts';

/**
 * Folds a batch while the one before it is being written: onto the rows that this one leaves, which are not committed yet.
 * Null when some table cannot take some event: whoever applies the batch in its turn finds out which.
 */
async function foldAhead(
  context: BatchContext,
  targets: readonly Target[],
  events: readonly StoredEvent[],
  before: readonly TableChange[],
): Promise<readonly TableChange[] | null> {
  const batch = new Batch(events);
  const rows = new Map(before.map(({ target, changed }) => [target, changed]));
  const concerned = targets.filter(({ table }) => batch.concerns(table));
  const folding = concerned.map(async (target) => {
    // Between two tables, what was sent goes on its way.
    await nextTurn();
    const plan = planTable(context, target, batch, { trusts: true, ahead: rows.get(target) });
    return await madeReady(foldPlan(plan, await plan.loading));
  });
  try {
    await whenAllEnded(folding);
    return await Promise.all(folding);
  } catch (error) {
    if (!isFault(error)) throw error;
    return null;
  }
}

/**
 * Writes what was folded, and calls `finish`, which moves the checkpoints, in one transaction. `sent` is called
 * once Postgres has all the rows to write. False when a table cannot take a row: then nothing has
 * happened, as when it throws.
 */
async function writeFolded(
  { connection, cache }: BatchContext,
  changes: readonly TableChange[],
  finish: () => Promise<void>,
  sent: () => void,
): Promise<boolean> {
  try {
    const pending = await transactionAtOnce(connection, async (begun) => {
      await begun;
      const written = changes.map((change) => writeTable(connection, change));
      const finished = finish();
      sent();
      await whenAllEnded([finished, ...written]);
      return Promise.all(written);
    });
    remember(cache, pending);
    return true;
  } catch (error) {
    cache.clear();
    if (!isFault(error)) throw error;
    return false;
  }
}

interface WriterOptions<Key extends Target> {
  readonly context: BatchContext;
  /** The tables that still take events. */
  readonly targets: () => readonly Key[];
  /** Moves the checkpoints, in the transaction of a batch. */
  readonly finish: (
    events: readonly StoredEvent[],
    stopped: readonly Stopped<Key>[],
  ) => Promise<void>;
  /** Told after the transaction; `seconds` is what it took. */
  readonly written: (batch: {
    readonly events: readonly StoredEvent[];
    readonly stopped: readonly Stopped<Key>[];
    readonly seconds: number;
  }) => void;
}

/** Events, with what the tables become by them where that could be folded before they are written. */
interface FoldedBatch {
  readonly events: readonly StoredEvent[];
  readonly changes: readonly TableChange[] | null;
}

/** Applies batches to tables, one after the other. While Postgres is busy with one of them, the next one is folded. */
export class BatchWriter<Key extends Target> {
  readonly #options: WriterOptions<Key>;
  #folded: FoldedBatch | null = null;

  constructor(options: WriterOptions<Key>) {
    this.#options = options;
  }

  /**
   * Writes the batch before, if there is one, and folds these events meanwhile. No events: all is written then. What
   * was folded is not written a second time after this has thrown.
   */
  async take(events: readonly StoredEvent[]): Promise<void> {
    const current = this.#folded;
    this.#folded = null;
    const { promise: isSent, resolve: sent } = Promise.withResolvers<void>();
    const writing = this.#write(current, sent).finally(sent);
    const folding = isSent.then(() =>
      foldAhead(this.#options.context, this.#options.targets(), events, current?.changes ?? []),
    );
    await Promise.allSettled([writing, folding]);
    // What was folded onto rows that were not written as they were folded is worth nothing.
    const changes = (await writing) ? await folding : null;
    if (events.length > 0) this.#folded = { events, changes };
  }

  /**
   * Writes a batch as it was folded, or else folds it in its turn. `sent` may be called before that has come to its end. False
   * when the tables are not as they were folded.
   */
  async #write(batch: FoldedBatch | null, sent: () => void): Promise<boolean> {
    const { context, targets, finish, written } = this.#options;
    if (batch === null || targets().length === 0) return true;
    const { events, changes } = batch;
    const startedAt = performance.now();
    const isWritten =
      changes !== null && (await writeFolded(context, changes, () => finish(events, []), sent));
    const stopped = isWritten
      ? []
      : await applyBatch(context, targets(), events, (failed) => finish(events, failed));
    written({ events, stopped, seconds: (performance.now() - startedAt) / 1_000 });
    return isWritten || changes === null;
  }
}
