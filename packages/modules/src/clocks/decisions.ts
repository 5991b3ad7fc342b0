import type { AdvanceStep } from '@counterfoil/engine/define';
import {
  type Decision,
  type Instant,
  instantOf,
  invalidField,
  invalidOperation,
  millisecondsOf,
  Problem,
} from '@counterfoil/kernel';
import { advanceOf, type TestClockEvent, type TestClockState } from './test-clock.ts';

type TestClockDecision = Decision<TestClockState, TestClockEvent>;

/** The longest way of one advance, in milliseconds: twenty years. */
const farthest = 20 * 366 * 86_400_000;

/** Gives an environment a test clock. Throws 409 when it has one that shows another time. */
export const setClock =
  (environment_id: string, now: Instant): TestClockDecision =>
  (state) => {
    if (state === null || state.now === null) {
      return [{ type: 'TestClockSet', data: { environment_id, now } }];
    }
    refuseWhileAdvancing(state);
    if (state.now === now) return [];
    throw new Problem(
      'already_exists',
      `The environment has a test clock at ${state.now}. Move it by advance, or remove it first.`,
      { details: { now: state.now } },
    );
  };

/** Sends a test clock on its way. Throws 409 while it is on the way already. Source: D78. */
export const requestAdvance =
  (to: Instant, stop_at_next_effect: boolean): TestClockDecision =>
  (state) => {
    if (state === null || state.now === null) {
      throw invalidOperation('The environment has no test clock. Set one with PUT …/clock.', {
        reason: 'no_test_clock',
      });
    }
    refuseWhileAdvancing(state);
    const { now } = state;
    if (to < now) throw invalidField('/to', `must not be before the time of the clock, ${now}`);
    const latest = instantOf(millisecondsOf(now) + farthest);
    if (to > latest) throw invalidField('/to', `must be at most 20 years on, ${latest}`);
    return [{ type: 'TestClockAdvanceRequested', data: { to, stop_at_next_effect } }];
  };

/**
 * Gives the environment back to the system's clock. Throws 409 when that is behind the test clock, since
 * time would run backwards. Source: D78.
 */
export const removeClock = (): TestClockDecision => (state, at) => {
  if (state === null || state.now === null) return [];
  refuseWhileAdvancing(state);
  if (state.now <= at) return [{ type: 'TestClockRemoved', data: {} }];
  throw new Problem(
    'version_conflict',
    `The system's clock has not reached ${state.now}, the time of the test clock. Remove it then.`,
    { details: { now: state.now } },
  );
};

/**
 * Takes a step of an advance. Nothing happens when that advance is over, or the clock is there already: time
 * never runs backwards, whichever process asks.
 */
export const takeStep =
  (number: number, { now, effects, ...step }: AdvanceStep): TestClockDecision =>
  (state) => {
    const advance = advanceOf(state);
    if (!state?.now || !advance || state.advances !== number) return [];
    if (now < state.now || now > advance.to) return [];
    if (step.kind === 'move') {
      return now === state.now ? [] : [{ type: 'TestClockMoved', data: { now, effects } }];
    }
    const failure = step.ended === 'failed' ? step.failure : null;
    return [{ type: 'TestClockStopped', data: { now, effects, ended: step.ended, failure } }];
  };

function refuseWhileAdvancing(state: TestClockState): void {
  const advance = advanceOf(state);
  if (!advance) return;
  throw new Problem(
    'version_conflict',
    `The clock is advancing to ${advance.to}. Wait until GET …/clock says that it stands.`,
    { details: { now: state?.now, to: advance.to }, retryAfterSeconds: 1 },
  );
}
