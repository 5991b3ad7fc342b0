import { recordProjection } from '@counterfoil/engine/define';
import { customer, customerView } from './customer.ts';

/** One row per customer: what `GET /customers/{id}` answers, and what lists filter and sort by. */
export const customerTable = recordProjection(customer, {
  name: 'customers',
  version: 1,
  view: customerView,
  columns: {
    name: { type: 'text', of: ({ name }) => name },
    email: { type: 'text', of: ({ email }) => email, index: true },
    external_id: { type: 'text', of: ({ external_id }) => external_id, index: true },
  },
});
