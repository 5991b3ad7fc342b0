import { recordOutcomes } from '../queue/attempt-store.ts';
import type { BreakerPolicy } from '../queue/health.ts';
import type { Outcome } from '../queue/settlement.ts';
import { type Loop, type LoopOptions, startLoop } from './loop.ts';
import { createNotifier } from './notifier.ts';

/** Writes outcomes down in batches. */
export interface AttemptWriter {
  /** Resolves when the outcome is durable, or when the writer ends without having managed. */
  record(outcome: Outcome): Promise<void>;
  readonly loop: Loop;
}

/** Outcomes in one transaction at most. More wait only while the dispatcher lets more be sent. */
const batchMaximum = 500;
const idleMs = 1_000;

interface Entry {
  readonly outcome: Outcome;
  readonly done: () => void;
}

/**
 * Starts the writer. Outcomes that come in while a batch is being written become the next batch, so
 * that a batch is as long as the database is slow. `onRecorded` is called after each batch.
 */
export function startAttemptWriter(
  options: LoopOptions & { readonly breaker: BreakerPolicy },
  onRecorded: () => void,
): AttemptWriter {
  const waiting: Entry[] = [];
  const notifier = createNotifier();
  const loop = startLoop(options, async ({ connection, signal, succeeded }) => {
    while (!signal.aborted) {
      const batch = waiting.slice(0, batchMaximum);
      if (batch.length === 0) {
        await notifier.wait(idleMs, signal);
        continue;
      }
      await recordOutcomes(
        connection,
        batch.map(({ outcome }) => outcome),
        options.breaker,
      );
      waiting.splice(0, batch.length);
      for (const { done } of batch) done();
      succeeded();
      onRecorded();
    }
  });
  const release = (): void => {
    for (const { done } of waiting.splice(0)) done();
  };
  void loop.ended.then(release);
  return {
    loop,
    record: (outcome) =>
      new Promise((done) => {
        waiting.push({ outcome, done });
        notifier.notify();
        if (options.signal.aborted) release();
      }),
  };
}
