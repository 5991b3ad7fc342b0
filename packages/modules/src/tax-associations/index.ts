import { module } from '@counterfoil/engine/define';
import { associationRoutes } from './routes.ts';

/** The attachment of tax rates to the tenant, to customers and to subscriptions. The records themselves belong to `taxes`. */
export const taxAssociations = module({
  name: 'tax-associations',
  aggregates: [],
  tables: [],
  routes: associationRoutes,
  publicEvents: [],
});

/** The routes with their exact types, for the typed client. */
export type TaxAssociationRoutes = typeof associationRoutes;
