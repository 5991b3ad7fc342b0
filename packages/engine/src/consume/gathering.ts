import { sleep } from './run-forever.ts';

/** Batches up to this size are taken as they come: so little is coming that there is nothing to gather. */
const few = 4;
/** A batch of this size shares its cost among so many that waiting would gain nothing. */
const plenty = 256;
const millisecondsPerItem = 1.5;
/** The longest wait: the most that gathering adds to the time until something is visible. */
const longestMilliseconds = 20;

/**
 * Returns the milliseconds to wait after a batch until the next one is taken. A batch that was larger than
 * a few tells that more came while the one before was worked on than one batch should cost: the wait
 * grows with it. So a request that comes alone never waits, and a backlog does not either.
 */
export function gatheringPause(batchSize: number): number {
  if (batchSize <= few || batchSize >= plenty) return 0;
  return Math.min(longestMilliseconds, (batchSize - few) * millisecondsPerItem);
}

/**
 * The batches of a source that holds what has arrived until it is asked, such as a subscription, with a
 * pause after each that lets the next one grow while much is coming. Every batch has a price of its own
 * (a transaction, a flush, a round of messages), which all of its items share. Items stay in order and
 * none is held back here: what was taken is handed on at once. `wait` is how a pause is spent.
 */
export async function* gathered<Item>(
  batches: AsyncIterable<readonly Item[]>,
  signal: AbortSignal,
  wait: typeof sleep = sleep,
): AsyncGenerator<readonly Item[], void, undefined> {
  for await (const batch of batches) {
    yield batch;
    const milliseconds = gatheringPause(batch.length);
    if (milliseconds > 0) await wait(milliseconds, signal);
  }
}
