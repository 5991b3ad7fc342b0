import { setTimeout as wait } from 'node:timers/promises';

/**
 * Waiting costs nothing when all is well, so the limit is one that a machine which is busy with other things
 * keeps too. It is below that of a test file, so that what never comes is told by name.
 */
export const patienceMilliseconds = 120_000;

/** Milliseconds between two looks: a tenth of the time that was waited, so that a long wait takes few looks, and ends soon after. */
const pause = { least: 5, most: 100, share: 0.1 } as const;

/** Waits until something is true and gives it; throws with the last state when it never is. */
export async function eventually<Value>(
  look: () => Value | undefined | false | Promise<Value | undefined | false>,
  describe: () => string = () => 'it never came true',
  milliseconds = patienceMilliseconds,
): Promise<Value> {
  const startedAt = Date.now();
  for (;;) {
    const seen = await look();
    if (seen !== undefined && seen !== false) return seen;
    const waited = Date.now() - startedAt;
    if (waited > milliseconds) throw new Error(describe());
    await wait(Math.min(pause.most, Math.max(pause.least, waited * pause.share)));
  }
}
