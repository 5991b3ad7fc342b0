import {
  listShape,
  newRecord,
  newText,
  pageSchema,
  type Routes,
  route,
  withETag,
} from '@counterfoil/engine/define';
import { referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { deleted, messageSchema } from '../message.ts';
import { refuseWhileInUse, type Use } from '../uses.ts';
import {
  archivePriceUnit,
  createPriceUnit,
  priceUnit,
  priceUnitView,
  updatePriceUnit,
} from './price-unit.ts';
import { getPriceUnit, getPriceUnitByCode, searchPriceUnits } from './queries.ts';
import {
  createPriceUnitSchema,
  priceUnitListSchema,
  priceUnitSchema,
  priceUnitSearchSchema,
  updatePriceUnitSchema,
} from './schema.ts';

const tag = 'Pricing units';
const idParameters = z.object({ id: referenceSchema('price_unit') });

const routes = {
  'POST /prices/units': route({
    summary: 'Create a pricing unit',
    description: 'A currency of your own, such as credits, with a fixed rate to a real one.',
    tag,
    status: 201,
    permission: 'price:write',
    body: createPriceUnitSchema,
    response: priceUnitSchema,
    example: {
      body: {
        name: newText('Credits'),
        code: newText('credits'),
        symbol: 'cr',
        base_currency: 'usd',
        conversion_rate: '0.01',
      },
      makes: 'price_unit',
    },
    handle: async (context, { body }) => {
      const id = context.newId('price_unit');
      const { state, revision } = await context.execute(priceUnit, id, createPriceUnit(id, body));
      return withETag(priceUnitView(state), revision);
    },
  }),

  'GET /prices/units': route({
    summary: 'List pricing units',
    tag,
    status: 200,
    permission: 'price:read',
    query: priceUnitListSchema.extend(listShape),
    response: pageSchema(priceUnitSchema),
    example: { names: { price_unit_ids: 'price_unit' } },
    handle: (context, { query }) => searchPriceUnits(context, query),
  }),

  'POST /prices/units/search': route({
    summary: 'Search pricing units',
    tag,
    status: 200,
    permission: 'price:read',
    body: priceUnitSearchSchema,
    bodyOptional: true,
    response: pageSchema(priceUnitSchema),
    example: { names: { price_unit_ids: 'price_unit' } },
    handle: (context, { body }) => searchPriceUnits(context, body),
  }),

  'GET /prices/units/code/{code}': route({
    summary: 'Get a pricing unit by its code',
    tag,
    status: 200,
    permission: 'price:read',
    params: z.object({ code: z.string().max(255) }),
    response: priceUnitSchema,
    example: { params: { code: newRecord('price_unit', 'code') } },
    handle: async (context, { params: { code } }) => {
      const { resource, revision } = await getPriceUnitByCode(context, code);
      return withETag(resource, revision);
    },
  }),

  'GET /prices/units/{id}': route({
    summary: 'Get a pricing unit',
    tag,
    status: 200,
    permission: 'price:read',
    params: idParameters,
    response: priceUnitSchema,
    handle: async (context, { params: { id } }) => {
      const { resource, revision } = await getPriceUnit(context, id);
      return withETag(resource, revision);
    },
  }),

  'PUT /prices/units/{id}': route({
    summary: 'Rename a pricing unit or replace its metadata',
    description: 'Code, symbol, base currency and rate never change.',
    tag,
    status: 200,
    permission: 'price:write',
    params: idParameters,
    body: updatePriceUnitSchema,
    response: priceUnitSchema,
    example: { body: { name: newText('Renamed') } },
    handle: async (context, { params: { id }, body }) => {
      const { state, revision } = await context.execute(priceUnit, id, updatePriceUnit(id, body));
      return withETag(priceUnitView(state), revision);
    },
  }),
} satisfies Routes;

const deletion = (uses: readonly Use<'price_unit'>[]) =>
  route({
    summary: 'Delete a pricing unit',
    description:
      'It is archived: readable by id, out of lists, its code is free again. Refused while prices ' +
      'use it.',
    tag,
    status: 200,
    permission: 'price:write',
    params: idParameters,
    response: messageSchema,
    handle: async (context, { params: { id } }) => {
      await context.execute(priceUnit, id, {
        prepare: async () => {
          await refuseWhileInUse(context, 'pricing unit', id, uses);
          return archivePriceUnit(id);
        },
      });
      return deleted('pricing unit', id);
    },
  });

/** The routes of pricing units. `uses` are asked before a unit is deleted. */
export const priceUnitRoutes = (uses: readonly Use<'price_unit'>[]) =>
  ({ ...routes, 'DELETE /prices/units/{id}': deletion(uses) }) satisfies Routes;
