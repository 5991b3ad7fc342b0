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
import { refuseWhileInUse, type Use } from '../uses.ts';
import {
  archiveCustomer,
  createCustomer,
  customer,
  customerView,
  updateCustomer,
} from './customer.ts';
import { getCustomer, getCustomerByExternalId, searchCustomers } from './queries.ts';
import { customerIdOf } from './reference.ts';
import {
  createCustomerSchema,
  customerListSchema,
  customerSchema,
  customerSearchSchema,
  expandQuerySchema,
  updateCustomerQuerySchema,
  updateCustomerSchema,
} from './schema.ts';

const tag = 'Customers';
const idParameters = z.object({ id: referenceSchema('cust') });

/** Ids that the tenant's own system, or one that is integrated, gave to the customer. */
const idsOfOthers = [
  'external_id',
  'integration_entity_mapping.0.provider_entity_id',
  'integration_entity_mapping.0.entity_id',
];

const routes = {
  'POST /customers': route({
    summary: 'Create a customer',
    tag,
    status: 201,
    permission: 'customer:write',
    body: createCustomerSchema,
    response: customerSchema,
    example: {
      body: {
        external_id: newText('acme'),
        name: newText('Acme'),
        email: newText('billing@example.com'),
      },
      makes: 'cust',
      texts: idsOfOthers,
    },
    handle: async (context, { body }) => {
      const id = context.newId('cust');
      const { state, revision } = await context.execute(customer, id, createCustomer(id, body));
      return withETag(customerView(state), revision);
    },
  }),

  'PUT /customers': route({
    summary: 'Update a customer, named by id or external_customer_id',
    description:
      'Only fields that are given change; `""` and null clear an optional text. `metadata` replaces ' +
      'the existing pairs, an integration mapping replaces the one of the same provider.',
    tag,
    status: 200,
    permission: 'customer:write',
    query: updateCustomerQuerySchema,
    body: updateCustomerSchema,
    response: customerSchema,
    example: {
      query: { id: newRecord('cust') },
      body: { name: newText('Acme Ltd') },
      names: { external_customer_id: 'cust.external_id' },
      texts: idsOfOthers,
    },
    handle: async (context, { query, body }) => {
      const { id: customer_id, external_customer_id } = query;
      const fields = { id: 'id', externalId: 'external_customer_id' };
      const id = await customerIdOf(context, { customer_id, external_customer_id }, fields);
      const { state, revision } = await context.execute(customer, id, updateCustomer(id, body));
      return withETag(customerView(state), revision);
    },
  }),

  'GET /customers': route({
    summary: 'List customers',
    tag,
    status: 200,
    permission: 'customer:read',
    query: customerListSchema.extend(listShape),
    response: pageSchema(customerSchema),
    example: {
      names: {
        customer_ids: 'cust',
        external_ids: 'cust.external_id',
        external_id: 'cust.external_id',
        email: 'cust.email',
      },
    },
    handle: (context, { query }) => searchCustomers(context, query),
  }),

  'POST /customers/search': route({
    summary: 'Search customers',
    tag,
    status: 200,
    permission: 'customer:read',
    body: customerSearchSchema,
    bodyOptional: true,
    response: pageSchema(customerSchema),
    example: {
      names: {
        customer_ids: 'cust',
        external_ids: 'cust.external_id',
        external_id: 'cust.external_id',
        email: 'cust.email',
      },
    },
    handle: (context, { body }) => searchCustomers(context, body),
  }),

  'GET /customers/{id}': route({
    summary: 'Get a customer',
    tag,
    status: 200,
    permission: 'customer:read',
    params: idParameters,
    query: expandQuerySchema,
    response: customerSchema,
    handle: async (context, { params }) => {
      const { resource, revision } = await getCustomer(context, params.id);
      return withETag(resource, revision);
    },
  }),

  'GET /customers/external/{external_id}': route({
    summary: 'Get a customer by its external_id',
    tag,
    status: 200,
    permission: 'customer:read',
    params: z.object({ external_id: z.string().max(255) }),
    query: expandQuerySchema,
    response: customerSchema,
    example: { params: { external_id: newRecord('cust', 'external_id') } },
    handle: async (context, { params }) => {
      const { resource, revision } = await getCustomerByExternalId(context, params.external_id);
      return withETag(resource, revision);
    },
  }),
} satisfies Routes;

const deletion = (uses: readonly Use<'cust'>[]) =>
  route({
    summary: 'Delete a customer',
    description:
      'The customer is archived: readable by id, out of lists, no longer writable; its ' +
      'external_id is free again. Refused while active records depend on it.',
    tag,
    status: 204,
    permission: 'customer:write',
    params: idParameters,
    handle: async (context, { params: { id } }) => {
      await context.execute(customer, id, {
        prepare: async () => {
          await refuseWhileInUse(context, 'customer', id, uses);
          return archiveCustomer(id);
        },
      });
      return undefined;
    },
  });

/** The routes of customers. `uses` are asked before a customer is deleted. */
export const customerRoutes = (uses: readonly Use<'cust'>[]) =>
  ({ ...routes, 'DELETE /customers/{id}': deletion(uses) }) satisfies Routes;
