import { reaction } from '@counterfoil/engine/define';
import { carryOutBrought } from '../taxes/index.ts';
import { customer } from './customer.ts';

/** The tax rates that a new customer names are attached to it. */
export const taxesOfCustomer = reaction(customer, {
  name: 'taxes of a customer',
  on: {
    CustomerCreated: ({ aggregate_id: entity_id, data }, context) =>
      carryOutBrought(context, { entity_type: 'customer', entity_id }, data.tax_associations),
  },
});
