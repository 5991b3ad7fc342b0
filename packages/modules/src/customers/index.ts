import { module } from '@counterfoil/engine/define';
import { customer, customerRecords } from './customer.ts';
import { integrationRoutes } from './integration-routes.ts';
import { taxesOfCustomer } from './reactions.ts';
import { customerRoutes } from './routes.ts';

export { type Brought, bringCustomer } from './bring.ts';
export {
  type CustomerEvent,
  type CustomerRecord,
  customer,
  customerRecords,
  linkCustomer,
} from './customer.ts';
export { childrenMaximum, childrenOf } from './parents.ts';
export {
  type CustomerReference,
  customerIdOf,
  customerReference,
  customersWith,
  customerWith,
} from './reference.ts';
export { createCustomerSchema, customerSchema } from './schema.ts';

const routes = { ...customerRoutes, ...integrationRoutes };

/** The customers, whom the tenants of the service bill. */
export const customers = module({
  name: 'customers',
  aggregates: [customer],
  tables: [customerRecords.table],
  routes,
  publicEvents: [customerRecords.publicEvents],
  reactions: [taxesOfCustomer],
});

/** The routes with their exact types, for the typed client. */
export type CustomerRoutes = typeof routes;
