import { sleep } from '../consume/run-forever.ts';

/** The resources that work in the background may take. */
export interface Pace {
  readonly eventsPerSecond: number;
  /** Share of the time in which it may be at work, above 0 and at most 1. */
  readonly share: number;
}

/** Makes a function that is told of each piece of work and waits until the next one may begin. */
export function createPacer(
  { eventsPerSecond, share }: Pace,
  signal: AbortSignal,
): (events: number) => Promise<void> {
  let began = performance.now();
  return async (events) => {
    const worked = performance.now() - began;
    const allowed = Math.max((events / eventsPerSecond) * 1_000, worked / share);
    if (allowed > worked) await sleep(allowed - worked, signal);
    began = performance.now();
  };
}
