import { type Instant, instantOf } from '@counterfoil/kernel';

/** The time of billing: the system's, but for environments that have a clock of their own (D51). */
export interface Clock {
  /** The present instant for the records of an owner: an environment, or a tenant as a whole. */
  now(owner: string): Instant;
}

/** The clock of an installation in which every environment has the system's time. */
export const systemClock: Clock = { now: () => instantOf(Date.now()) };
