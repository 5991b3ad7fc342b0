import { newText, pageSchema, type Routes, route, withETag } from '@counterfoil/engine/define';
import { referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { refuseWhileInUse } from '../uses.ts';
import { associationsOfRate, getTaxRate, listTaxRates } from './queries.ts';
import {
  createTaxRateSchema,
  taxRateListSchema,
  taxRateSchema,
  updateTaxRateSchema,
} from './rate-schema.ts';
import { archiveTaxRate, createTaxRate, taxRate, taxRateView, updateTaxRate } from './tax-rate.ts';

const tag = 'Taxes';
const idParameters = z.object({ id: referenceSchema('taxrate') });

export const taxRateRoutes = {
  'POST /taxes/rates': route({
    summary: 'Create a tax rate',
    description: 'A percentage of what is taxed, or a fixed amount. It is active from the start.',
    tag,
    status: 201,
    permission: 'tax:write',
    body: createTaxRateSchema,
    response: taxRateSchema,
    example: {
      body: { name: newText('VAT'), code: newText('vat'), percentage_value: '19' },
      makes: 'taxrate',
    },
    handle: async (context, { body }) => {
      const id = context.newId('taxrate');
      const { state, revision } = await context.execute(taxRate, id, createTaxRate(id, body));
      return withETag(taxRateView(state), revision);
    },
  }),

  'GET /taxes/rates': route({
    summary: 'List tax rates',
    tag,
    status: 200,
    permission: 'tax:read',
    query: taxRateListSchema,
    response: pageSchema(taxRateSchema),
    example: { names: { taxrate_ids: 'taxrate', taxrate_codes: 'taxrate.code' } },
    handle: (context, { query }) => listTaxRates(context, query),
  }),

  'GET /taxes/rates/{id}': route({
    summary: 'Get a tax rate',
    tag,
    status: 200,
    permission: 'tax:read',
    params: idParameters,
    response: taxRateSchema,
    handle: async (context, { params: { id } }) => {
      const { resource, revision } = await getTaxRate(context, id);
      return withETag(resource, revision);
    },
  }),

  'PUT /taxes/rates/{id}': route({
    summary: 'Change the texts of a tax rate, or whether it is active',
    description: 'How much it is never changes: make another rate instead.',
    tag,
    status: 200,
    permission: 'tax:write',
    params: idParameters,
    body: updateTaxRateSchema,
    response: taxRateSchema,
    example: { body: { tax_rate_status: 'INACTIVE' } },
    handle: async (context, { params: { id }, body }) => {
      const { state, revision } = await context.execute(taxRate, id, updateTaxRate(id, body));
      return withETag(taxRateView(state), revision);
    },
  }),

  'DELETE /taxes/rates/{id}': route({
    summary: 'Delete a tax rate',
    description:
      'It is archived: readable by id, out of lists; its code is free again. Refused while it is ' +
      'associated with anything.',
    tag,
    status: 204,
    permission: 'tax:write',
    params: idParameters,
    handle: async (context, { params: { id } }) => {
      await context.execute(taxRate, id, {
        prepare: async () => {
          await refuseWhileInUse(context, 'tax rate', id, [associationsOfRate]);
          return archiveTaxRate(id);
        },
      });
      return undefined;
    },
  }),
} satisfies Routes;
