import type { BreakerPolicy } from '@counterfoil/modules';
import { type Loop, type LoopOptions, startLoop } from './loop.ts';
import { type Outcome, recordOutcomes } from './record.ts';
import { createWake } from './wake.ts';

/** Writes outcomes down in batches. */
export interface Recorder {
  /** Resolves when the outcome is durable, or when the recorder ends without having managed. */
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
 * Starts a recorder. What comes in while a batch is being written becomes the next batch, so that
 * a batch is as long as the database is slow. `onRecorded` is called after each batch.
 */
export function startRecorder(
  options: LoopOptions & { readonly breaker: BreakerPolicy },
  onRecorded: () => void,
): Recorder {
  const waiting: Entry[] = [];
  const wake = createWake();
  const loop = startLoop(options, async ({ connection, signal, succeeded }) => {
    while (!signal.aborted) {
      const batch = waiting.slice(0, batchMaximum);
      if (batch.length === 0) {
        await wake.wait(idleMs, signal);
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
        wake.notify();
        if (options.signal.aborted) release();
      }),
  };
}
