import {
  ofTable,
  pageSchema,
  type Routes,
  route,
  searchExample,
  withETag,
} from '@counterfoil/engine/define';
import { referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { invoiceExpansion } from './expansion.ts';
import { withLineUsage } from './line-usage/line-usage.ts';
import { asksForUsage, lineUsageParameters } from './line-usage/schema.ts';
import { invoiceTable } from './projection.ts';
import { getInvoice, searchInvoices } from './queries.ts';
import { invoiceSchema } from './schema.ts';
import { invoiceListSchema, invoiceSearchSchema } from './search-schema.ts';

const tag = 'Invoices';
const expand = invoiceExpansion.parameter;
const idParameters = z.object({ id: referenceSchema('inv') });
const namesOfSearch = {
  customer_id: 'cust',
  subscription_customer_id: 'cust',
  external_customer_id: 'cust.external_id',
  subscription_id: 'subs',
  invoice_ids: 'inv',
} as const;

export const invoiceRoutes = {
  'GET /invoices': route({
    summary: 'List invoices',
    tag,
    status: 200,
    permission: 'invoice:read',
    query: ofTable(invoiceTable, invoiceListSchema.extend({ expand })),
    response: pageSchema(invoiceSchema),
    example: { names: namesOfSearch },
    handle: (context, { query }) => searchInvoices(context, query),
  }),

  'POST /invoices/search': route({
    summary: 'Search invoices',
    tag,
    status: 200,
    permission: 'invoice:read',
    body: ofTable(
      invoiceTable,
      invoiceSearchSchema.extend({ expand }).meta({ id: 'InvoiceSearch' }),
    ),
    bodyOptional: true,
    response: pageSchema(invoiceSchema),
    example: { body: searchExample, names: namesOfSearch },
    handle: (context, { body }) => searchInvoices(context, body),
  }),

  'GET /invoices/{id}': route({
    summary: 'Get an invoice',
    tag,
    status: 200,
    permission: 'invoice:read',
    params: idParameters,
    query: z.object({ expand, ...lineUsageParameters }),
    response: invoiceSchema,
    handle: async (context, { params: { id }, query }) => {
      const { resource, revision } = await getInvoice(context, id, query.expand);
      const shown = asksForUsage(query) ? await withLineUsage(context, resource, query) : resource;
      return withETag(shown, revision);
    },
  }),
} satisfies Routes;
