import { expansion, newRecord, type Routes } from '@counterfoil/engine/define';
import { z } from 'zod';
import { customer } from '../customers/index.ts';
import { equalTo, recordRoutes } from '../record/index.ts';
import {
  type Association,
  createAssociationSchema,
  deleteAssociation,
  taxAssociationRecords,
  taxEntitySchema,
  taxRate,
  taxRateRecords,
  taxRateView,
  updateAssociation,
  updateAssociationSchema,
} from '../taxes/index.ts';
import { prepareAssociation } from './attach.ts';

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

/** The routes of tax associations, which name the records that rates are attached to. */
export const associationRoutes = {
  'POST /taxes/associations': associations.create({
    summary: 'Attach a tax rate',
    description: 'To the tenant, a customer or a subscription.',
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
    summary: 'Change a tax association',
    description: 'Its priority, auto_apply or metadata.',
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
