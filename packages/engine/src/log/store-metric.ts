import type { AppendFailure } from './types.ts';

/** What the event store tells about itself while it works. */
export type StoreMetric =
  | {
      readonly kind: 'append';
      readonly outcome: 'appended' | AppendFailure;
      readonly events: number;
      readonly milliseconds: number;
    }
  /** A subscription was asked for; before the first event this may happen again and again. */
  | { readonly kind: 'subscription_started' }
  | { readonly kind: 'subscription_lost' };
