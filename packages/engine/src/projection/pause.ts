import { setTimeout as delay } from 'node:timers/promises';

/** Waits some milliseconds, or until the signal aborts; which of the two it was is not told. */
export const pause = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  delay(milliseconds, undefined, { signal }).catch(() => undefined);

/** The same wait for everybody would bring many processes back in step. */
export const jittered = (milliseconds: number): number => milliseconds * (0.5 + Math.random() / 2);
