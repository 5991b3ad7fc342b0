import { newRecord, type Routes, route } from '@counterfoil/engine/define';
import { referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { customerRecords } from '../customers/index.ts';
import { foundById, foundByUnique } from '../record/index.ts';
import { customerEntitlements, type GrantsOf } from './queries.ts';
import { customerEntitlementsQuerySchema, customerEntitlementsSchema } from './schema.ts';

const { table, called } = customerRecords;

const common = {
  description: 'By feature, over all active and trialing subscriptions.',
  tag: 'Entitlements',
  status: 200,
  permission: 'entitlement:read',
  query: customerEntitlementsQuerySchema,
  response: customerEntitlementsSchema,
} as const;

/** The routes of what customers have. `grantsOf` knows what their subscriptions give them. */
export const customerEntitlementRoutes = (grantsOf: GrantsOf) =>
  ({
    'GET /customers/{id}/entitlements': route({
      ...common,
      summary: 'Get what a customer is entitled to',
      params: z.object({ id: referenceSchema('cust') }),
      example: { texts: ['feature_ids', 'subscription_ids'] },
      handle: async (context, { params, query }) => {
        const { resource } = await foundById(context, table, called, params.id);
        return customerEntitlements(context, grantsOf, resource.id, query);
      },
    }),

    'GET /customers/external/{external_id}/entitlements': route({
      ...common,
      summary: 'Get what a customer is entitled to, by external_id',
      params: z.object({ external_id: z.string().max(255) }),
      example: {
        params: { external_id: newRecord('cust', 'external_id') },
        texts: ['feature_ids', 'subscription_ids'],
      },
      handle: async (context, { params, query }) => {
        const { external_id } = params;
        const found = await foundByUnique(context, customerRecords, external_id, 'external_id');
        return customerEntitlements(context, grantsOf, found.resource.id, query);
      },
    }),
  }) satisfies Routes;
