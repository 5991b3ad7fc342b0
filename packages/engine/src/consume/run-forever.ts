import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../operations/log.ts';

/** Resolves after some milliseconds, or as soon as the signal aborts. Never rejects. */
export const sleep = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  delay(milliseconds, undefined, { signal }).catch(() => undefined);

/** A wait shortened at random by up to half, so that many processes do not move in step. */
export const jittered = (milliseconds: number, random = Math.random): number =>
  milliseconds * (0.5 + random() / 2);

/** Waits between attempts: each twice the one before it up to a limit, and jittered. */
export interface BackOff {
  /** Milliseconds to wait before the next attempt. */
  next(): number;
  /** Starts over with the first wait, after an attempt that was of use. */
  reset(): void;
}

export interface BackOffLimits {
  readonly firstMilliseconds: number;
  readonly lastMilliseconds: number;
}

/** Makes a back-off that has not waited yet. */
export function createBackOff(limits: BackOffLimits, random = Math.random): BackOff {
  let step = limits.firstMilliseconds;
  return {
    next: () => {
      const milliseconds = jittered(step, random);
      step = Math.min(step * 2, limits.lastMilliseconds);
      return milliseconds;
    },
    reset: () => {
      step = limits.firstMilliseconds;
    },
  };
}

export interface ForeverOptions {
  /** Stands in the log lines about failures, such as `due work`. */
  readonly name: string;
  readonly log: Pick<Log, 'warn'>;
  readonly signal: AbortSignal;
  /** 200 milliseconds to 10 seconds unless given. */
  readonly backOff?: BackOffLimits;
  /** Told about every failure. Returns the milliseconds to wait, or nothing to wait as the back-off says. */
  readonly onFailure?: (error: unknown) => number | undefined;
}

/**
 * One turn of a loop. Returns the milliseconds until the next one. It may call `progressed` while it
 * goes on: should it fail later, the waits start over.
 */
export type Turn = (progressed: () => void) => Promise<number>;

const defaultBackOff: BackOffLimits = { firstMilliseconds: 200, lastMilliseconds: 10_000 };
/** The same failure again is logged no more often than this. */
const repeatedMilliseconds = 60_000;

/**
 * Takes one turn after the other until the signal aborts, and resolves when the last one has ended.
 * A turn that throws ends nothing: it is logged (the same failure at most once a minute, with the number
 * of times) and followed by another one after a back-off, for ever.
 */
export async function runForever(turn: Turn, options: ForeverOptions): Promise<void> {
  const { name, log, signal, onFailure } = options;
  const backOff = createBackOff(options.backOff ?? defaultBackOff);
  const note = noteFailures(log, name);
  const nextWait = async (): Promise<number> => {
    try {
      const milliseconds = await turn(backOff.reset);
      backOff.reset();
      return milliseconds;
    } catch (error) {
      if (signal.aborted) return 0;
      note(error);
      return onFailure?.(error) ?? backOff.next();
    }
  };
  while (!signal.aborted) {
    const milliseconds = await nextWait();
    if (!signal.aborted && milliseconds > 0) await sleep(milliseconds, signal);
  }
}

/** Logs failures, those that repeat themselves seldom. */
function noteFailures(log: Pick<Log, 'warn'>, name: string): (error: unknown) => void {
  let last = { message: '', at: 0, times: 0 };
  return (error) => {
    const message = String(error);
    const times = message === last.message ? last.times + 1 : 1;
    const isRepeated = times > 1 && performance.now() - last.at < repeatedMilliseconds;
    last = { message, at: isRepeated ? last.at : performance.now(), times };
    if (!isRepeated) log.warn({ err: error, times }, `${name} failed and tries again`);
  };
}

/** The words of an error. */
export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message || error.name : String(error);

/** The promise's outcome, or a rejection with the signal's reason as soon as it aborts. */
export function unlessAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const stop = (): void => reject(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  return Promise.race([aborted, promise]).finally(() => signal.removeEventListener('abort', stop));
}

/** Resolves when all pieces of work have ended, well or badly. Rejects with the failure that came first in time. */
export async function whenAllEnded(work: readonly Promise<unknown>[]): Promise<void> {
  const all = Promise.all(work);
  await Promise.allSettled([all, ...work]);
  await all;
}

/**
 * Does a piece of work for each of some things, so many of them at once. Rejects with the first failure, as
 * soon as nothing is under way any more.
 */
export async function inParallel<Thing>(
  things: readonly Thing[],
  atOnce: number,
  work: (thing: Thing) => Promise<void>,
): Promise<void> {
  const waiting = things[Symbol.iterator]();
  const next = async (): Promise<void> => {
    for (const thing of waiting) await work(thing);
  };
  const workers = Array.from({ length: atOnce }, next);
  await Promise.allSettled(workers);
  await Promise.all(workers);
}
