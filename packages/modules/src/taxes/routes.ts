import {
  expandParameter,
  expansion,
  newRecord,
  newText,
  type Routes,
} from '@counterfoil/engine/define';
import { z } from 'zod';
import { customer } from '../customers/index.ts';
import { accepted, equalTo, oneOf, recordRoutes } from '../record/index.ts';
import {
  type Association,
  createAssociationSchema,
  taxEntitySchema,
  updateAssociationSchema,
} from './association-schema.ts';
import { prepareAssociation } from './attach.ts';
import { createTaxRateSchema, taxRateScopeSchema, updateTaxRateSchema } from './rate-schema.ts';
import { deleteAssociation, taxAssociationRecords, updateAssociation } from './tax-association.ts';
import {
  archiveTaxRate,
  createTaxRate,
  taxRate,
  taxRateRecords,
  taxRateView,
  updateTaxRate,
} from './tax-rate.ts';

const rates = recordRoutes(taxRateRecords, { tag: 'Taxes', right: 'tax' });

const rateRoutes = {
  'POST /taxes/rates': rates.create({
    description: 'A percentage of what is taxed, or a fixed amount. It is active from the start.',
    body: createTaxRateSchema,
    example: { body: { name: newText('VAT'), code: newText('vat'), percentage_value: '19' } },
    decide: createTaxRate,
  }),
  'GET /taxes/rates': rates.list({
    scope: equalTo('scope', taxRateScopeSchema),
    taxrate_ids: oneOf('id', 64),
    taxrate_codes: oneOf('code', 255, { ignoresCase: true }),
    expand: accepted(expandParameter([])),
  }),
  'GET /taxes/rates/{id}': rates.get(),
  'PUT /taxes/rates/{id}': rates.change({
    summary: 'Change the texts of a tax rate, or whether it is active',
    description: 'How much it is never changes: make another rate instead.',
    body: updateTaxRateSchema,
    example: { body: { tax_rate_status: 'INACTIVE' } },
    decide: updateTaxRate,
  }),
  'DELETE /taxes/rates/{id}': rates.end({
    description:
      'It is archived: readable by id, out of lists; its code is free again. Refused while it is ' +
      'associated with anything.',
    decide: archiveTaxRate,
  }),
} satisfies Routes;

const associationExpansion = expansion<Association>({
  tax_rate: {
    as: 'tax_rate',
    id: ({ tax_rate_id }) => tax_rate_id,
    find: taxRateRecords.byIds,
    always: true,
  },
});

const associations = recordRoutes(taxAssociationRecords, {
  tag: 'Taxes',
  right: 'tax',
  embedding: {
    expansion: associationExpansion,
    written: async (context, shown) => {
      const rate = await context.load(taxRate, shown.tax_rate_id);
      return { ...shown, ...(rate && { tax_rate: taxRateView(rate) }) };
    },
  },
});

const associationList = associations.list({
  entity_type: equalTo('entity_type', taxEntitySchema),
  entity_id: equalTo('entity_id', z.string().max(64), { names: 'cust' }),
  external_customer_id: equalTo('entity_id', z.string().max(255), { names: 'cust.external_id' }),
  tax_rate_id: equalTo('tax_rate_id', z.string().max(64), { names: 'taxrate' }),
});

const associationRoutes = {
  'POST /taxes/associations': associations.create({
    summary: 'Attach a tax rate to the tenant or a customer',
    status: 200,
    body: createAssociationSchema,
    example: {
      body: {
        tax_rate_code: newRecord('taxrate', 'code'),
        entity_type: 'customer',
        entity_id: newRecord('cust'),
      },
      names: { external_customer_id: 'cust.external_id' },
    },
    decide: (id, body, context) => ({ prepare: () => prepareAssociation(context, id, body) }),
  }),
  'GET /taxes/associations': {
    ...associationList,
    // The id of the customer is looked up in the log; an unknown one has no associations.
    handle: async (context, { query, ...input }) => {
      const { external_customer_id: given } = query;
      const holder = given && ((await context.holderOf(customer, 'external_id', given)) ?? '');
      const known = { ...query, external_customer_id: holder };
      return associationList.handle(context, { ...input, query: known });
    },
  } satisfies typeof associationList,
  'GET /taxes/associations/{id}': associations.get({
    summary: 'Get a tax association with its rate',
  }),
  'PUT /taxes/associations/{id}': associations.change({
    summary: 'Change priority, auto_apply or metadata of a tax association',
    body: updateAssociationSchema,
    example: { body: { priority: 7 } },
    decide: updateAssociation,
  }),
  'DELETE /taxes/associations/{id}': associations.change({
    summary: 'Detach a tax rate',
    description: 'Answers the association as it is now: deleted. Afterwards it is not found.',
    decide: deleteAssociation,
  }),
} satisfies Routes;

export const taxRoutes = { ...rateRoutes, ...associationRoutes } satisfies Routes;
