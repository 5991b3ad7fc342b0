import {
  aggregate,
  type EventOf,
  existing,
  type Instant,
  instantSchema,
} from '@counterfoil/kernel';
import { z } from 'zod';

const reached = { now: instantSchema, effects: z.number().int().nonnegative() } as const;

const events = {
  TestClockSet: z.object({ environment_id: z.string(), now: instantSchema }),
  TestClockAdvanceRequested: z.object({ to: instantSchema, stop_at_next_effect: z.boolean() }),
  /** To the instant of due work; `effects` counts what has changed something before. */
  TestClockMoved: z.object(reached),
  TestClockStopped: z.object({
    ...reached,
    ended: z.enum(['reached', 'effect', 'failed']),
    failure: z.string().nullable(),
  }),
  TestClockRemoved: z.object({}),
} as const;
export type TestClockEvent = EventOf<typeof events>;

/** An advance of a test clock: the one that is under way, or the last one. */
export interface Progress {
  readonly from: Instant;
  readonly to: Instant;
  readonly stop_at_next_effect: boolean;
  /** Pieces of due work that have changed something. */
  readonly effects: number;
  /** Null while it is under way. */
  readonly ended: 'reached' | 'effect' | 'failed' | null;
  readonly failure: string | null;
}

export interface TestClockRecord {
  readonly environment_id: string;
  /** Null when the environment has the system's clock again. */
  readonly now: Instant | null;
  /** The number of advances, of which `progress` is the last. */
  readonly advances: number;
  readonly progress: Progress | null;
}

/** Null until the environment is given a test clock. */
export type TestClockState = TestClockRecord | null;

/** The test clock of one environment; its id is that of the environment. */
export const testClock = aggregate({
  name: 'test_clock',
  scope: 'tenant',
  events,
  initial: null as TestClockState,
  evolve: (state, event): TestClockState => {
    if (event.type === 'TestClockSet') {
      const advances = state?.advances ?? 0;
      return { ...event.data, advances, progress: null };
    }
    const clock = existing(state, 'test clock');
    switch (event.type) {
      case 'TestClockAdvanceRequested': {
        const { to, stop_at_next_effect } = event.data;
        const from = existing(clock.now, 'instant of the test clock');
        const begun = { effects: 0, ended: null, failure: null } as const;
        const progress = { from, to, stop_at_next_effect, ...begun };
        return { ...clock, advances: clock.advances + 1, progress };
      }
      case 'TestClockMoved':
      case 'TestClockStopped': {
        const { now, ...made } = event.data;
        return { ...clock, now, progress: { ...existing(clock.progress, 'advance'), ...made } };
      }
      case 'TestClockRemoved':
        return { ...clock, now: null, progress: null };
      default:
        return event satisfies never;
    }
  },
});

/** The advance that is under way; null while there is none. */
export const advanceOf = (state: TestClockState): Progress | null =>
  state?.progress?.ended === null ? state.progress : null;
