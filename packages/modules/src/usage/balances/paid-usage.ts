import {
  aggregate,
  type CustomerId,
  canonicalJson,
  type Decision,
  type EventOf,
} from '@counterfoil/kernel';
import { z } from 'zod';

const customerId = z.string().transform((text) => text as CustomerId);

const events = {
  /** The usage of these customers is paid for by another one. */
  UsagePaid: z.object({ payer_id: customerId, customer_ids: z.array(customerId) }),
} as const;
export type PaidUsageEvent = EventOf<typeof events>;
export type PaidUsage = PaidUsageEvent['data'];

/**
 * The customers whose usage somebody else pays for, by the subscription because of which that is so: usage of theirs is a reason to look at the
 * balance of who pays. They are not taken out again, because usage may come late; to look in vain does no harm.
 */
export const paidUsage = aggregate({
  name: 'paid_usage',
  scope: 'environment',
  events,
  initial: null as PaidUsage | null,
  evolve: (_, { data }): PaidUsage => data,
});

/** Notes who pays for whom. Nothing where that is known. */
export const notePaidUsage =
  (paid: PaidUsage): Decision<PaidUsage | null, PaidUsageEvent> =>
  (state) =>
    canonicalJson(state) === canonicalJson(paid) ? [] : [{ type: 'UsagePaid', data: paid }];
