import { expansion, inTable } from '@counterfoil/engine/define';
import { customerRecords } from '../customers/index.ts';
import { subscriptionTable } from '../subscriptions/index.ts';
import type { InvoiceResource } from './schema.ts';

/** The records that an invoice shows inside: what was applied to it stands in it always. */
export const invoiceExpansion = expansion<InvoiceResource>(
  {
    customer: {
      as: 'customer',
      id: ({ customer_id }) => customer_id,
      find: inTable(customerRecords.table),
      always: true,
    },
    subscription: {
      as: 'subscription',
      id: ({ subscription_id }) => subscription_id,
      find: inTable(subscriptionTable),
    },
  },
  ['coupon_applications', 'tax_applied'],
);
