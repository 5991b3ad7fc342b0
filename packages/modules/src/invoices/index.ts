import { module } from '@counterfoil/engine/define';
import { invoice } from './invoice.ts';
import { invoiceTable } from './projection.ts';
import { invoicePublicEvents } from './public-events.ts';
import { invoiceRoutes } from './routes.ts';

export { amountsOf, type Invoice, invoice, paymentStatusOf } from './invoice.ts';
export { invoiceTable } from './projection.ts';
export { type InvoiceResource, invoiceSchema } from './schema.ts';
export { invoiceView } from './view.ts';

const routes = { ...invoiceRoutes };

/** What customers owe, from the draft to the last payment. */
export const invoices = module({
  name: 'invoices',
  aggregates: [invoice],
  tables: [invoiceTable],
  routes,
  publicEvents: [invoicePublicEvents],
});

/** The routes with their exact types, for the typed client. */
export type InvoiceRoutes = typeof routes;
