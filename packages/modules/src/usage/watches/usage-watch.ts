import { aggregate, type CustomerId, type Decision, type EventOf } from '@counterfoil/kernel';
import { z } from 'zod';

const events = {
  /** Usage of this customer is a reason to look at the record that has the id of the watch. */
  UsageWatched: z.object({ customer_id: z.string().transform((text) => text as CustomerId) }),
  UsageUnwatched: z.object({}),
} as const;
export type UsageWatchEvent = EventOf<typeof events>;

/** The customer whose usage is watched; null for none. */
export type UsageWatchState = CustomerId | null;

/** Usage that a record of another kind waits for, under the id of that: it is looked at when some has come (ADR 38). */
export const usageWatch = aggregate({
  name: 'usage_watch',
  scope: 'environment',
  events,
  initial: null as UsageWatchState,
  evolve: (_, event): UsageWatchState =>
    event.type === 'UsageWatched' ? event.data.customer_id : null,
});

/** Watches the usage of a customer, or none any more. Known, no event. */
export const watchUsage =
  (customer_id: CustomerId | null): Decision<UsageWatchState, UsageWatchEvent> =>
  (state) => {
    if (state === customer_id) return [];
    return customer_id === null
      ? [{ type: 'UsageUnwatched', data: {} }]
      : [{ type: 'UsageWatched', data: { customer_id } }];
  };
