import { type Module, module } from '@counterfoil/engine/define';
import type { Use } from '../uses.ts';
import { customer } from './customer.ts';
import { customerTable } from './projection.ts';
import { customerPublicEvents } from './public-events.ts';
import { customerRoutes } from './routes.ts';

export { type CustomerRecord, type CustomerState, customer, customerView } from './customer.ts';
export { getCustomer, getCustomerByExternalId } from './queries.ts';
export { type CustomerReference, customerIdOf, customerReference } from './reference.ts';
export { type Customer, customerSchema } from './schema.ts';

/** The customers, whom a tenant bills. `inUse` are asked before a customer is deleted. */
export const customers = ({ inUse }: { readonly inUse: readonly Use<'cust'>[] }): Module =>
  module({
    name: 'customers',
    aggregates: [customer],
    tables: [customerTable],
    routes: customerRoutes(inUse),
    publicEvents: [customerPublicEvents],
  });

/** The routes with their exact types, for the typed client. */
export type CustomerRoutes = ReturnType<typeof customerRoutes>;
