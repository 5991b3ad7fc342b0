import type { Streams } from '@counterfoil/engine';
import type { Clocks, DueWork, Principal, TestClock } from '@counterfoil/engine/define';
import { type Instant, instantOf, millisecondsOf } from '@counterfoil/kernel';
import { dueRunner } from '../../../engine/src/consume/due-run.ts';
import { RunningAdvance } from '../../../engine/src/consume/running-advance.ts';
import { createLog } from '../../../engine/src/operations/log.ts';
import type { MemoryStore } from '../memory-store.ts';
import { memoryDueRows } from '../memory-world.ts';

interface MemoryClockOptions {
  readonly store: MemoryStore;
  readonly streams: () => Streams;
  readonly work: readonly DueWork[];
  readonly owner: Pick<Principal, 'tenantId' | 'environmentId'>;
  readonly now: () => Instant;
  readonly moveTo: (instant: Instant) => void;
}

/** The test clock of an environment in memory. */
export interface MemoryTestClock {
  /** Advances it, after all advances that were asked for before. */
  pass(milliseconds: number): Promise<void>;
}

/** A test clock that the engine's own advance moves from due instant to due instant; only its tables are in memory. */
export function memoryTestClock(options: MemoryClockOptions): MemoryTestClock {
  const { store, streams, work, owner, now, moveTo } = options;
  const { tenantId, environmentId } = owner;
  let advance: TestClock['advance'] = null;
  const clock = (): TestClock => ({ tenantId, environmentId, now: now(), advance });
  const clocks: Clocks = {
    now,
    testClocks: () => [clock()],
    testClock: clock,
    step: async (_context, _clock, _advance, step) => {
      moveTo(step.now);
      if (step.kind === 'move') return;
      advance = null;
      if (step.ended === 'failed') throw new Error(`the clock stopped: ${step.failure}`);
    },
  };
  const head = async () => BigInt(store.log.length);
  const advanceTo = async (to: Instant): Promise<void> => {
    advance = { number: 1, to, stopsAtEffect: false, hasMoved: false, effects: 0 };
    const run = dueRunner({ streams: streams(), log: silent });
    const tools = {
      database: '',
      store: { head },
      streams: streams(),
      clocks,
      work,
      run,
      projected: { position: () => 0n, waitFor: () => Promise.resolve(true) },
      reactions: { handled: head },
      isActive: () => true,
      log: silent,
    };
    const rowsUpTo = async (one: DueWork, _clock: TestClock, upTo: Instant) =>
      memoryDueRows(store, one, owner, upTo);
    const signal = new AbortController().signal;
    await new RunningAdvance(tools, rowsUpTo, environmentId, signal).run();
    // What requests have made due meanwhile is found by the look that every projector takes again and again.
    for (const one of work) {
      for (const row of memoryDueRows(store, one, owner, now())) await run(one, row);
    }
  };
  let last: Promise<void> = Promise.resolve();
  return {
    pass(milliseconds) {
      last = last.then(() => advanceTo(instantOf(millisecondsOf(now()) + milliseconds)));
      return last;
    },
  };
}

/** Failures come back as errors. */
const silent = createLog({ level: 'silent', name: 'ledger' });
