import { module } from '@counterfoil/engine/define';
import { correctionsDocumented } from './documents.ts';
import { invoiceRerating } from './invoice-rerating.ts';
import { reratingRoutes } from './routes.ts';

export { invoiceRerating, reratingWorkId } from './invoice-rerating.ts';
export { rerate } from './rerate.ts';
export { ratedAgainSchema, rerateInvoiceSchema } from './schema.ts';

/** Final invoices under prices as they should have been. */
export const rerating = module({
  name: 'rerating',
  aggregates: [invoiceRerating],
  tables: [],
  routes: reratingRoutes,
  publicEvents: [],
  reactions: [correctionsDocumented],
});

/** The routes with their exact types, for the typed client. */
export type ReratingRoutes = typeof reratingRoutes;
