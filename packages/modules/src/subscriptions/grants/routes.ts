import { pageSchema, pageShape, type Routes, route } from '@counterfoil/engine/define';
import { referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { customerReference } from '../../customers/index.ts';
import { foundById } from '../../record/index.ts';
import { subscriptionTable } from '../projection.ts';
import { upcomingGrants } from './queries.ts';
import { grantApplicationSchema } from './schema.ts';

const common = {
  tag: 'Subscriptions',
  status: 200,
  permission: 'creditgrant:read',
  query: z.object(pageShape),
  response: pageSchema(grantApplicationSchema),
} as const;

/** The routes of the credits that subscriptions give. */
export const grantRoutes = {
  'GET /customers/{id}/grants/upcoming': route({
    ...common,
    summary: 'List the credits that a customer is to be granted',
    description: 'Of all subscriptions: the next of each grant, the earliest first.',
    params: z.object({ id: referenceSchema('cust') }),
    handle: async (context, { params: { id }, query }) => {
      const { id: customer_id } = await customerReference(context.recalled, { customer_id: id });
      return upcomingGrants(context, { customer_id }, query);
    },
  }),

  'GET /subscriptions/{id}/grants/upcoming': route({
    ...common,
    summary: 'List the credits that a subscription is to be granted',
    description: 'The next of each grant, the earliest first.',
    params: z.object({ id: referenceSchema('subs') }),
    handle: async (context, { params: { id }, query }) => {
      await foundById(context, subscriptionTable, 'subscription', id);
      return upcomingGrants(context, { subscription_id: id }, query);
    },
  }),
} satisfies Routes;
