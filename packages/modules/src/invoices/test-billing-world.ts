import type { AnyRoute, DueWork, Parts } from '@counterfoil/engine/define';
import type { AnyAggregate, DecimalText, Instant } from '@counterfoil/kernel';
import {
  callRoute,
  memoryDueRows,
  published,
  type RawInput,
  testPrincipal,
  // biome-ignore lint/correctness/noUndeclaredDependencies: only tests import this file.
} from '@counterfoil/testkit';
import { editingRoutes } from './editing/routes.ts';
import { invoices } from './index.ts';
import { invoice } from './invoice.ts';
import { oneOffRoutes } from './one-off/routes.ts';
import { previewRoutes } from './preview/routes.ts';
import { invoicePublicEvents } from './public-events.ts';
import { recalculationRoutes } from './recalculation/routes.ts';
import { invoiceRoutes } from './routes.ts';
import { settlePayment } from './settling/payments.ts';
import { invoiceWorld } from './test-invoice-world.ts';

/** The world of invoices, with what callers do to them. */
export async function billingWorld(others: readonly AnyAggregate[] = [], parts?: Parts) {
  const base = await invoiceWorld(others, parts);
  const { world, customerId } = base;
  const request = (operation = '', key?: string, fields: object = {}) =>
    world.request(
      testPrincipal(),
      key === undefined ? undefined : { key, operation, fields: { ...fields } },
    );
  const call = <Route extends AnyRoute>(route: Route, id: string, input: RawInput = {}) =>
    callRoute(route, request(), { params: { id }, ...input });
  const given = {
    customer_id: customerId,
    currency: 'usd',
    subtotal: '100',
    total: '100',
    amount_due: '100',
    line_items: [{ display_name: 'Setup', amount: '100', quantity: '1' }],
  };
  return {
    ...base,
    request,
    /** The clock at a later instant, with everything done that comes by then. */
    passAll: base.pass,
    /** Makes an invoice of a hundred dollars, or what the body says. */
    make: (body: object = {}, key?: string) =>
      callRoute(oneOffRoutes['POST /invoices'], request('POST /invoices', key, body), {
        body: { ...given, ...body },
      }),
    finalize: (id: string) => call(recalculationRoutes['POST /invoices/{id}/finalize'], id),
    recalculate: (id: string) => call(recalculationRoutes['POST /invoices/{id}/recalculate'], id),
    recompute: (id: string, query: object = {}) =>
      call(recalculationRoutes['POST /invoices/{id}/recalculate-v2'], id, { query }),
    update: (id: string, body: object) => call(editingRoutes['PUT /invoices/{id}'], id, { body }),
    makeVoid: (id: string) => call(editingRoutes['POST /invoices/{id}/void'], id),
    send: (id: string) => call(editingRoutes['POST /invoices/{id}/comms/trigger'], id),
    tell: (id: string, body: object = {}) =>
      call(editingRoutes['POST /invoices/{id}/webhook/trigger'], id, { body }),
    get: (id: string, query: object = {}) =>
      call(invoiceRoutes['GET /invoices/{id}'], id, { query }),
    search: (body: object = {}) =>
      callRoute(invoiceRoutes['POST /invoices/search'], request(), { body }),
    list: (query: object = {}) => callRoute(invoiceRoutes['GET /invoices'], request(), { query }),
    preview: (body: object) =>
      callRoute(previewRoutes['POST /invoices/preview'], request(), { body }),
    /** Money that comes for an invoice by a payment. */
    pay: (id: string, amount: string, payment_id = 'pay_1') =>
      request().execute(
        invoice,
        id,
        settlePayment({ payment_id, method: 'OFFLINE', amount: amount as DecimalText }),
      ),
    /** The types of all messages about an invoice, in their order. */
    messages: async (id: string) =>
      (await published(request(), invoicePublicEvents, invoice, id)).map(({ type }) => type),
    stateOf: (id: string) => request().load(invoice, id),
    coupon: async (body: object = {}) => (await base.coupon(body)).id,
    /** The clock at a later instant, with the due work of invoices done that has come by then. */
    pass: async (to: string) => {
      world.now = to as Instant;
      for (const work of invoices.dueWork ?? []) await runDue(work);
    },
  };

  async function runDue(work: DueWork): Promise<void> {
    for (;;) {
      const rows = memoryDueRows(world.store, work, testPrincipal(), world.now);
      if (rows.length === 0) return;
      const before = world.store.log.length;
      for (const { id } of rows) await work.run(request(), id);
      if (world.store.log.length === before) throw new Error(`${work.name} stays due`);
    }
  }
}
