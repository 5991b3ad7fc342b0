import { setImmediate as nextTurn } from 'node:timers/promises';
import { whenAllEnded } from '../consume/run-forever.ts';
import { transactionAtOnce } from '../database/database.ts';
import type { StoredEvent } from '../log/types.ts';
import { isFault } from './apply-batch.ts';
import { Batch } from './fold.ts';
import type { Target } from './row-store.ts';
import {
  type BatchContext,
  foldPlan,
  planTable,
  remember,
  type TableChange,
  writeTable,
} from './table-change.ts';

/**
 * Folds a batch while the one before it is being written: onto the rows that this one leaves, which are not committed yet.
 * Null when some table cannot take some event: whoever applies the batch in its turn finds out which.
 */
export async function foldAhead(
  context: BatchContext,
  targets: readonly Target[],
  events: readonly StoredEvent[],
  before: readonly TableChange[],
): Promise<readonly TableChange[] | null> {
  const batch = new Batch(events);
  const rows = new Map(before.map(({ target, changed }) => [target, changed]));
  const folding = targets.map(async (target) => {
    // Between two tables, what was sent goes on its way.
    await nextTurn();
    const plan = planTable(context, target, batch, { trusts: true, ahead: rows.get(target) });
    return foldPlan(plan, await plan.loading);
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
export async function writeFolded(
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
