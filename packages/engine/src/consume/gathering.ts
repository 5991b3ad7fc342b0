import { sleep } from './run-forever.ts';

/** Batches up to this size are taken as they come: so little is coming that there is nothing to gather. */
const few = 4;
/** After a batch of this size the wait is as long as the work on it was. */
const several = 5;
/** A batch of this size shares its cost among so many that waiting would gain nothing. */
const plenty = 256;
/** The longest wait: the most that gathering adds to the time until something is visible. */
const longestMilliseconds = 40;

/**
 * Returns the milliseconds to wait after a batch until the next one is taken. The wait grows with the price of the batch,
 * which is the time that the work on it took, and with its size, which tells how many would share the next price.
 * So a request that comes alone never waits, a backlog does not either, and where batches cost little, or little is
 * coming, the wait is short.
 */
export function gatheringPause(batchSize: number, workMilliseconds: number): number {
  if (batchSize <= few || batchSize >= plenty) return 0;
  return Math.min(longestMilliseconds, workMilliseconds * (batchSize / several));
}

/** The means of gathering, for tests. */
interface GatheringTools {
  /** Spends a pause. */
  readonly wait?: typeof sleep;
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number;
}

/** The batches that have a pause after them; all unless given. */
interface GatheringChoice<Item> {
  readonly gathersAfter?: (batch: readonly Item[]) => boolean;
}

/**
 * The batches of a source that holds what has arrived until it is asked, such as a subscription, with a
 * pause after each that lets the next one grow while much is coming. Every batch has a price of its own
 * (a transaction, a flush, a round of messages), which all of its items share. Items stay in order and
 * none is held back here: what was taken is handed on at once.
 */
export async function* gathered<Item>(
  batches: AsyncIterable<readonly Item[]>,
  signal: AbortSignal,
  {
    wait = sleep,
    now = () => performance.now(),
    gathersAfter = () => true,
  }: GatheringTools & GatheringChoice<Item> = {},
): AsyncGenerator<readonly Item[], void, undefined> {
  for await (const batch of batches) {
    const takenAt = now();
    yield batch;
    if (!gathersAfter(batch)) continue;
    const milliseconds = gatheringPause(batch.length, now() - takenAt);
    if (milliseconds > 0) await wait(milliseconds, signal);
  }
}
