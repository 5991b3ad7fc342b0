import {
  newRecord,
  newText,
  pageSchema,
  type RequestContext,
  type Routes,
  route,
} from '@counterfoil/engine/define';
import { type CustomerId, existing, notFound } from '@counterfoil/kernel';
import { messageSchema } from '../message.ts';
import { customer, linkCustomer, unlinkCustomer } from './customer.ts';
import {
  customerIntegrationSchema,
  linkedEntitySchema,
  linkedIntegrationSchema,
  linkSchema,
  unlinkSchema,
} from './schema.ts';

const tag = 'Customers';

/** Throws 404, with the name of the field, when there is no such customer. */
async function assertExists(context: RequestContext, id: CustomerId): Promise<void> {
  if (!(await context.load(customer, id))) throw notFound('customer', id, 'entity_id');
}

/** The routes of mappings between customers and what they are at outside providers. */
export const integrationRoutes = {
  'POST /integrations/link': route({
    summary: 'Link a customer to what it is at a provider',
    description: 'A mapping replaces the one of the same provider. Only customers can be linked.',
    tag,
    status: 200,
    permission: 'customer:write',
    body: linkSchema,
    response: linkedIntegrationSchema,
    example: {
      body: {
        entity_type: 'customer',
        entity_id: newRecord('cust'),
        provider_type: 'stripe',
        provider_entity_id: newText('cus_N4'),
      },
      texts: ['provider_entity_id'],
    },
    handle: async (context, { body: { entity_id: id, ...mapping } }) => {
      const { state } = await context.execute(customer, id, {
        prepare: async () => {
          await assertExists(context, id);
          return linkCustomer(id, mapping);
        },
      });
      const linked = state?.integrations.find(
        ({ provider_type }) => provider_type === mapping.provider_type,
      );
      return { mapping: existing(linked ?? null, 'mapping') };
    },
  }),

  'DELETE /integrations/link': route({
    operationId: 'unlinkIntegration',
    summary: 'Remove the mapping of a customer to a provider',
    description: 'Other mappings stay.',
    tag,
    status: 200,
    permission: 'customer:write',
    body: unlinkSchema,
    response: messageSchema,
    example: {
      body: {
        entity_type: 'customer',
        entity_id: newRecord('cust'),
        provider_type: 'stripe',
      },
    },
    handle: async (context, { body: { entity_id: id, provider_type } }) => {
      await context.execute(customer, id, {
        prepare: async () => {
          await assertExists(context, id);
          return unlinkCustomer(id, provider_type);
        },
      });
      return { message: 'The mapping has been removed.' };
    },
  }),

  'GET /integrations/mappings': route({
    summary: 'List the mappings of a customer',
    tag,
    status: 200,
    permission: 'customer:read',
    query: linkedEntitySchema,
    response: pageSchema(customerIntegrationSchema),
    example: { query: { entity_type: 'customer', entity_id: newRecord('cust') } },
    handle: async (context, { query: { entity_id, limit, offset } }) => {
      const all = (await context.load(customer, entity_id))?.integrations ?? [];
      return {
        items: all.slice(offset, offset + limit),
        pagination: { limit, offset, total: all.length },
      };
    },
  }),
} satisfies Routes;
