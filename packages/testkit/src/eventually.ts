import { setTimeout as pause } from 'node:timers/promises';

/**
 * Waiting costs nothing when all is well, so the limit is one that a machine which is busy with other things
 * keeps too. It is below that of a test file, so that what never comes is told by name.
 */
export const patienceMilliseconds = 120_000;
const pollMilliseconds = 20;

/** Waits until something is true and gives it; throws with the last state when it never is. */
export async function eventually<Value>(
  look: () => Value | undefined | false | Promise<Value | undefined | false>,
  describe: () => string = () => 'it never came true',
  milliseconds = patienceMilliseconds,
): Promise<Value> {
  const deadline = Date.now() + milliseconds;
  for (;;) {
    const seen = await look();
    if (seen !== undefined && seen !== false) return seen;
    if (Date.now() > deadline) throw new Error(describe());
    await pause(pollMilliseconds);
  }
}
