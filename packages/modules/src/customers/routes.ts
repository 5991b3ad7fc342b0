import {
  expansion,
  newRecord,
  newText,
  type Routes,
  route,
  withETag,
} from '@counterfoil/engine/define';
import { z } from 'zod';
import { equalTo, oneOf, recordRoutes, withMetadata } from '../record/index.ts';
import { creationOf } from './bring.ts';
import {
  archiveCustomer,
  customer,
  customerRecords,
  customerView,
  updateCustomer,
} from './customer.ts';
import { parentOf } from './parents.ts';
import { taxesOfCustomer } from './reactions.ts';
import { customerIdOf } from './reference.ts';
import {
  type Customer,
  createCustomerSchema,
  customerMetadataSchema,
  customerSchema,
  updateCustomerQuerySchema,
  updateCustomerSchema,
} from './schema.ts';

const tag = 'Customers';
/** The integrations stand in every customer. */
const customerExpansion = expansion<Customer>({}, ['integrations']);

const routes = recordRoutes(customerRecords, {
  tag,
  right: 'customer',
  embedding: { expansion: customerExpansion },
});

const filters = {
  email: equalTo('email', z.string().max(254), { names: 'cust.email' }),
  external_id: equalTo('external_id', z.string().max(255)),
  customer_ids: oneOf('id', 255),
  external_ids: oneOf('external_id', 255),
  parent_customer_ids: oneOf('parent_customer_id', 255, { names: 'cust' }),
} as const;
const parentNames = {
  parent_customer_id: 'cust',
  parent_customer_external_id: 'cust.external_id',
} as const;
const query = z.object({ expand: customerExpansion.parameter });

/** Ids that the tenant's own system, or one that is integrated, gave to the customer. */
const idsOfOthers = [
  'external_id',
  'integration_entity_mapping.0.id',
  'integration_entity_mapping.0.provider_entity_id',
  'integration_entity_mapping.0.entity_id',
];

export const customerRoutes = {
  'POST /customers': routes.create({
    body: createCustomerSchema,
    example: {
      body: {
        external_id: newText('acme'),
        name: newText('Acme'),
        email: newText('billing@example.com'),
      },
      names: parentNames,
      texts: idsOfOthers,
    },
    decide: (id, body, context) => creationOf(context, id, body),
    follows: taxesOfCustomer,
  }),

  'PUT /customers': route({
    operationId: 'updateCustomer',
    summary: 'Update a customer, named by id or external_customer_id',
    description: 'An integration mapping replaces the one of the same provider.',
    tag,
    status: 200,
    permission: 'customer:write',
    query: updateCustomerQuerySchema,
    body: updateCustomerSchema,
    response: customerSchema,
    example: {
      query: { id: newRecord('cust') },
      body: { name: newText('Acme Ltd') },
      names: { external_customer_id: 'cust.external_id', ...parentNames },
      texts: idsOfOthers,
    },
    handle: async (context, { query, body }) => {
      const { id: customer_id, external_customer_id } = query;
      const fields = { id: 'id', externalId: 'external_customer_id' };
      const id = await customerIdOf(context, { customer_id, external_customer_id }, fields);
      const { state, revision } = await context.execute(customer, id, {
        prepare: async () => updateCustomer(id, body, await parentOf(context, id, body)),
      });
      return withETag(customerView(state), revision);
    },
  }),

  'GET /customers': routes.list(filters),
  'POST /customers/search': routes.search('CustomerSearch', {
    ...filters,
    metadata: withMetadata(customerMetadataSchema),
  }),
  'GET /customers/{id}': routes.get({ query }),
  'GET /customers/external/{external_id}': routes.getBy('external_id', { query }),
  'DELETE /customers/{id}': routes.end({
    description: 'Refused while active records depend on it.',
    decide: archiveCustomer,
  }),
} satisfies Routes;
