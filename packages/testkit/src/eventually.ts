import { setTimeout as pause } from 'node:timers/promises';

const defaultMilliseconds = 20_000;
const pollMilliseconds = 20;

/** Waits until something is true and gives it; throws with the last state when it never is. */
export async function eventually<Value>(
  look: () => Value | undefined | false | Promise<Value | undefined | false>,
  describe: () => string = () => 'it never came true',
  milliseconds = defaultMilliseconds,
): Promise<Value> {
  const deadline = Date.now() + milliseconds;
  for (;;) {
    const seen = await look();
    if (seen !== undefined && seen !== false) return seen;
    if (Date.now() > deadline) throw new Error(describe());
    await pause(pollMilliseconds);
  }
}
