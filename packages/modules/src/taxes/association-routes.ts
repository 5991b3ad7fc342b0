import { newRecord, pageSchema, type Routes, route, withETag } from '@counterfoil/engine/define';
import { referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import {
  associationListSchema,
  associationSchema,
  createAssociationSchema,
  updateAssociationSchema,
} from './association-schema.ts';
import { associationNow, prepareAssociation } from './commands.ts';
import { getAssociation, listAssociations } from './queries.ts';
import { deleteAssociation, taxAssociation, updateAssociation } from './tax-association.ts';

const tag = 'Taxes';
const idParameters = z.object({ id: referenceSchema('ta') });

export const taxAssociationRoutes = {
  'POST /taxes/associations': route({
    summary: 'Attach a tax rate to the tenant or a customer',
    tag,
    status: 200,
    permission: 'tax:write',
    body: createAssociationSchema,
    response: associationSchema,
    example: {
      body: {
        tax_rate_code: newRecord('taxrate', 'code'),
        entity_type: 'customer',
        entity_id: newRecord('cust'),
      },
      makes: 'ta',
      names: { external_customer_id: 'cust.external_id' },
    },
    handle: async (context, { body }) => {
      const id = context.newId('ta');
      const { state, revision } = await context.execute(taxAssociation, id, {
        prepare: () => prepareAssociation(context, id, body),
      });
      return withETag(await associationNow(context, state), revision);
    },
  }),

  'GET /taxes/associations': route({
    summary: 'List tax associations',
    tag,
    status: 200,
    permission: 'tax:read',
    query: associationListSchema,
    response: pageSchema(associationSchema),
    example: {
      names: {
        entity_id: 'cust',
        external_customer_id: 'cust.external_id',
        tax_rate_id: 'taxrate',
      },
    },
    handle: (context, { query }) => listAssociations(context, query),
  }),

  'GET /taxes/associations/{id}': route({
    summary: 'Get a tax association with its rate',
    tag,
    status: 200,
    permission: 'tax:read',
    params: idParameters,
    response: associationSchema,
    handle: async (context, { params: { id } }) => {
      const { resource, revision } = await getAssociation(context, id);
      return withETag(resource, revision);
    },
  }),

  'PUT /taxes/associations/{id}': route({
    summary: 'Change priority, auto_apply or metadata of a tax association',
    tag,
    status: 200,
    permission: 'tax:write',
    params: idParameters,
    body: updateAssociationSchema,
    response: associationSchema,
    example: { body: { priority: 7 } },
    handle: async (context, { params: { id }, body }) => {
      const { state, revision } = await context.execute(
        taxAssociation,
        id,
        updateAssociation(id, body),
      );
      return withETag(await associationNow(context, state), revision);
    },
  }),

  'DELETE /taxes/associations/{id}': route({
    summary: 'Detach a tax rate',
    description: 'Answers the association as it is now: deleted. Afterwards it is not found.',
    tag,
    status: 200,
    permission: 'tax:write',
    params: idParameters,
    response: associationSchema,
    handle: async (context, { params: { id } }) => {
      const { state, revision } = await context.execute(taxAssociation, id, deleteAssociation(id));
      return withETag(await associationNow(context, state), revision);
    },
  }),
} satisfies Routes;
