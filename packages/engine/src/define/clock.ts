import { type EnvironmentId, type Instant, instantOf, type TenantId } from '@counterfoil/kernel';
import type { CommandContext } from './context.ts';

/** The time of billing: the system's, but for environments that have a clock of their own (D51). */
export interface Clock {
  /** The present instant for the records of an owner: an environment, or a tenant as a whole. */
  now(owner: string): Instant;
}

/** The clock of an installation in which every environment has the system's time. */
export const systemClock: Clock = { now: () => instantOf(Date.now()) };

/** The way of a test clock to a later instant, which is under way. */
export interface Advance {
  /** Tells the advances of one clock apart. */
  readonly number: number;
  readonly to: Instant;
  /** True when it ends at the first instant at which something is due. */
  readonly stopsAtEffect: boolean;
  /** True once the clock has moved. */
  readonly hasMoved: boolean;
  /** Pieces of due work that have changed something. */
  readonly effects: number;
}

/** The clock of an environment that has one of its own. */
export interface TestClock {
  readonly tenantId: TenantId;
  readonly environmentId: EnvironmentId;
  readonly now: Instant;
  /** Null while the clock stands. */
  readonly advance: Advance | null;
}

/** A step of an advance: to the instant of due work, or its end at an instant. */
export type AdvanceStep = { readonly now: Instant; readonly effects: number } & (
  | { readonly kind: 'move' }
  | { readonly kind: 'end'; readonly ended: 'reached' | 'effect' }
  | { readonly kind: 'end'; readonly ended: 'failed'; readonly failure: string }
);

/** The clocks of all environments, and the way in which the machine moves them. */
export interface Clocks extends Clock {
  /** Every clock that does not show the system's time. */
  testClocks(): readonly TestClock[];
  /** The test clock of an environment; null when it has the system's time. */
  testClock(environmentId: EnvironmentId): TestClock | null;
  /**
   * Takes a step of an advance; afterwards `now` and `testClocks` show it. Nothing happens when the
   * advance is over, or the clock is there already.
   */
  step(
    context: Pick<CommandContext, 'execute'>,
    clock: Pick<TestClock, 'tenantId' | 'environmentId'>,
    advance: Pick<Advance, 'number'>,
    step: AdvanceStep,
  ): Promise<void>;
}
