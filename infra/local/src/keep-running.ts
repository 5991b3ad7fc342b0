import { setTimeout as pause } from 'node:timers/promises';
import type { ProcessExit } from './guarded-process.ts';
import { describeExit } from './local-server.ts';

/** Something that has been started and is running. */
export interface Running {
  readonly pid: number;
  readonly exited: Promise<ProcessExit>;
  stop(): Promise<unknown>;
}

export interface RestartPolicy {
  /** Pause before the first restart; it doubles with every further one. */
  readonly initialDelayMs: number;
  /** Longest pause. Whatever has run for longer than this starts again with the initial pause. */
  readonly maxDelayMs: number;
  /** The number of attempts at the very first start before `ready` is rejected. Default 3. */
  readonly startAttemptsMax?: number;
}

export interface Kept<Started extends Running> {
  /** Pid of the process that runs now; undefined while there is none. */
  pid(): number | undefined;
  /** The number of times it was started again after it ended unexpectedly. */
  restarts(): number;
  /** The result of the first successful start. Rejected with the last failure when all attempts fail. */
  readonly ready: Promise<Started>;
  /** Stops it, and starts it no more. Resolves when it has ended; may be called more than once. */
  stop(): Promise<void>;
}

/**
 * Keeps something running: starts it, and starts it again with growing pauses whenever it ends without
 * having been asked to. Gives up only when it has never come up.
 *
 * @param start starts it once; is told through the signal when it is no longer wanted
 * @param report takes a sentence for the operator whenever something unexpected happens
 */
export function keepRunning<Started extends Running>(options: {
  readonly name: string;
  readonly start: (signal: AbortSignal) => Promise<Started>;
  readonly restart: RestartPolicy;
  readonly report: (sentence: string) => void;
}): Kept<Started> {
  const { name, restart, report } = options;
  const stopping = new AbortController();
  let current: Started | undefined;
  let restarts = 0;
  let tellReady: (started: Started) => void = () => undefined;
  let tellFailure: (reason: unknown) => void = () => undefined;
  const ready = new Promise<Started>((settle, reject) => {
    tellReady = settle;
    tellFailure = reject;
  });
  // Whoever does not wait for readiness learns of a failure by the report.
  ready.catch(() => undefined);

  /** One life, from its start to its end. Returns how long it ran, or the reason it never came up. */
  const liveOnce = async (): Promise<{ ranMs: number } | { failure: unknown }> => {
    try {
      current = await options.start(stopping.signal);
    } catch (failure) {
      return { failure };
    }
    const startedAt = Date.now();
    // It may have come up in the moment in which it was told to stop, when there was nothing to stop.
    if (stopping.signal.aborted) await current.stop();
    else tellReady(current);
    const exit = await current.exited;
    current = undefined;
    if (!stopping.signal.aborted) report(`${name} ended unexpectedly (${describeExit(exit)})`);
    return { ranMs: Date.now() - startedAt };
  };

  const run = async (): Promise<void> => {
    let wasReady = false;
    let delayMs = restart.initialDelayMs;
    for (let failures = 0; !stopping.signal.aborted; restarts += 1) {
      const life = await liveOnce();
      if (stopping.signal.aborted) break;
      if ('failure' in life) {
        failures += 1;
        report(`${name} did not start: ${messageOf(life.failure)}`);
        if (!wasReady && failures >= (restart.startAttemptsMax ?? 3)) {
          tellFailure(life.failure);
          return;
        }
      } else {
        wasReady = true;
        if (life.ranMs > restart.maxDelayMs) delayMs = restart.initialDelayMs;
      }
      await pause(delayMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      delayMs = Math.min(delayMs * 2, restart.maxDelayMs);
    }
    tellFailure(new Error(`${name} was stopped before it was ready`));
  };
  const finished = run();

  return {
    pid: () => current?.pid,
    restarts: () => restarts,
    ready,
    stop: async () => {
      stopping.abort();
      await current?.stop();
      await finished;
    },
  };
}

function messageOf(failure: unknown): string {
  return failure instanceof Error ? failure.message : String(failure);
}
