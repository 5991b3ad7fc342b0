import { newRecord, type Routes, route } from '@counterfoil/engine/define';
import { referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { customerReference } from '../../customers/index.ts';
import type { GrantsOf } from '../../entitlements/index.ts';
import { customerUsage } from './customer-usage.ts';
import { customerUsageQuerySchema, customerUsageSchema, usageChoiceSchema } from './schema.ts';

const fields = { id: 'customer_id', externalId: 'customer_lookup_key' };
const texts = ['feature_ids', 'feature_lookup_keys', 'subscription_ids'];

const common = {
  description: 'So far, with what its subscriptions grant.',
  tag: 'Usage',
  status: 200,
  permission: 'event:read',
  response: customerUsageSchema,
} as const;

/** The routes of what customers have used of what they are granted. */
export const customerUsageRoutes = (grantsOf: GrantsOf) =>
  ({
    'GET /customers/usage': route({
      ...common,
      summary: 'Get the usage of a customer',
      operationId: 'getCustomerUsageSummary',
      query: customerUsageQuerySchema,
      example: {
        query: { customer_id: newRecord('cust') },
        names: { customer_lookup_key: 'cust.external_id' },
        texts,
      },
      handle: async (context, { query }) => {
        const { customer_id, customer_lookup_key, ...choice } = query;
        const reference = { customer_id, external_customer_id: customer_lookup_key };
        const customer = await customerReference(context.recalled, reference, fields);
        return await customerUsage(context, grantsOf, customer, choice);
      },
    }),
    'GET /customers/{id}/usage': route({
      ...common,
      summary: 'Get the usage of a customer by its id',
      operationId: 'getCustomerUsage',
      params: z.object({ id: referenceSchema('cust') }),
      query: usageChoiceSchema,
      example: { texts },
      handle: async (context, { params: { id }, query }) => {
        const customer = await customerReference(
          context.recalled,
          { customer_id: id },
          { ...fields, id: 'id' },
        );
        return await customerUsage(context, grantsOf, customer, query);
      },
    }),
  }) satisfies Routes;
