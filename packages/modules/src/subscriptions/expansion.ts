import { expansion, inTable } from '@counterfoil/engine/define';
import { customerRecords } from '../customers/index.ts';
import { planTable } from '../offers/index.ts';
import type { SubscriptionResource } from './schema.ts';

/** The records that a subscription shows inside: its lines with their prices stand in it always. */
export const subscriptionExpansion = expansion<SubscriptionResource>(
  {
    plan: { as: 'plan', id: ({ plan_id }) => plan_id, find: inTable(planTable), always: true },
    customer: {
      as: 'customer',
      id: ({ customer_id }) => customer_id,
      find: inTable(customerRecords.table),
      always: true,
    },
  },
  ['prices', 'meters', 'schedule', 'coupon_associations', 'coupon', 'subscription_line_items'],
);
