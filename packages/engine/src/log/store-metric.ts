import type { AppendFailure } from './types.ts';

/** A measurement that the event store reports while it works. */
export type StoreMetric =
  | {
      readonly kind: 'append';
      readonly outcome: 'appended' | AppendFailure;
      readonly events: number;
      readonly milliseconds: number;
    }
  /** A subscription was requested; before the first event this may happen many times. */
  | { readonly kind: 'subscription_started' }
  | { readonly kind: 'subscription_lost' };
