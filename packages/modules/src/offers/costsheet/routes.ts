import { newText, pageSchema, type Routes, route, withETag } from '@counterfoil/engine/define';
import { referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { messageSchema } from '../../message.ts';
import { costsheetOf, offer } from '../offer.ts';
import { createCostsheet, deleteCostsheet, updateCostsheet } from '../root-decisions.ts';
import { getActiveCostsheet, getCostsheet, searchCostsheets } from '../root-queries.ts';
import {
  costsheetQuerySchema,
  costsheetSchema,
  costsheetSearchSchema,
  createCostsheetSchema,
  updateCostsheetSchema,
} from '../root-schema.ts';
import { costsheetView } from '../views.ts';

const tag = 'Costsheets';
const idParameters = z.object({ id: referenceSchema('cost') });

export const costsheetRoutes = {
  'POST /costs': route({
    summary: 'Create a costsheet',
    description: 'What the tenant itself pays: a set of prices. The newest one is active.',
    tag,
    status: 201,
    permission: 'cost:write',
    body: createCostsheetSchema,
    response: costsheetSchema,
    example: { body: { name: newText('Tokens'), lookup_key: newText('tokens') }, makes: 'cost' },
    handle: async (context, { body }) => {
      const id = context.newId('cost');
      const { state, revision } = await context.execute(offer, id, createCostsheet(id, body));
      return withETag(costsheetView(costsheetOf(state)), revision);
    },
  }),

  'POST /costs/search': route({
    summary: 'Search costsheets',
    tag,
    status: 200,
    permission: 'cost:read',
    body: costsheetSearchSchema,
    bodyOptional: true,
    response: pageSchema(costsheetSchema),
    handle: (context, { body }) => searchCostsheets(context, body),
  }),

  'GET /costs/active': route({
    summary: 'Get the newest published costsheet with its prices',
    tag,
    status: 200,
    permission: 'cost:read',
    response: costsheetSchema,
    example: { needs: ['cost'] },
    handle: async (context) => {
      const { resource, revision } = await getActiveCostsheet(context);
      return withETag(resource, revision);
    },
  }),

  'GET /costs/{id}': route({
    summary: 'Get a costsheet with its prices',
    tag,
    status: 200,
    permission: 'cost:read',
    params: idParameters,
    query: costsheetQuerySchema,
    response: costsheetSchema,
    handle: async (context, { params: { id } }) => {
      const { resource, revision } = await getCostsheet(context, id);
      return withETag(resource, revision);
    },
  }),

  'PUT /costs/{id}': route({
    summary: 'Update a costsheet',
    description: 'Only fields that are given change; `""` and null clear an optional text.',
    tag,
    status: 200,
    permission: 'cost:write',
    params: idParameters,
    body: updateCostsheetSchema,
    response: costsheetSchema,
    example: { body: { name: newText('Renamed') } },
    handle: async (context, { params: { id }, body }) => {
      const { state, revision } = await context.execute(offer, id, updateCostsheet(id, body));
      return withETag(costsheetView(costsheetOf(state)), revision);
    },
  }),

  'DELETE /costs/{id}': route({
    summary: 'Delete a costsheet with its prices',
    tag,
    status: 200,
    permission: 'cost:write',
    params: idParameters,
    response: messageSchema.extend({ id: z.string() }).meta({ id: 'DeletedCostsheet' }),
    handle: async (context, { params: { id } }) => {
      await context.execute(offer, id, deleteCostsheet(id));
      return { id, message: `The costsheet ${id} is deleted.` };
    },
  }),
} satisfies Routes;
