import { expansion, inTable, type Routes, route, withETag } from '@counterfoil/engine/define';
import { referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { customerRecords } from '../customers/index.ts';
import { planTable } from '../offers/index.ts';
import { foundById } from '../record/index.ts';
import { subscriptionTable } from './projection.ts';
import { type SubscriptionResource, subscriptionSchema } from './schema.ts';

/** The members of a subscription that a slim one shows where they are asked for, by the names that ask for them. */
const partsByName = {
  subscription_line_items: 'line_items',
  prices: 'line_items',
  credit_grants: 'credit_grants',
  pauses: 'pauses',
  phases: 'phases',
  coupon_associations: 'coupon_associations',
  coupon: 'coupon_associations',
} as const satisfies Record<string, keyof SubscriptionResource>;
const parts = [...new Set(Object.values(partsByName))];

/** A subscription without what stands inside of it, unless that is asked for. */
const slimSchema = subscriptionSchema
  .partial({
    line_items: true,
    credit_grants: true,
    pauses: true,
    phases: true,
    coupon_associations: true,
  })
  .meta({ id: 'SlimSubscription' });
type Slim = z.output<typeof slimSchema>;

const slimExpansion = expansion<Slim>(
  {
    plan: { as: 'plan', id: ({ plan_id }) => plan_id, find: inTable(planTable) },
    customer: {
      as: 'customer',
      id: ({ customer_id }) => customer_id,
      find: inTable(customerRecords.table),
    },
  },
  Object.keys(partsByName),
);

/** A subscription with those of its parts alone that are named. */
function slimOf(resource: SubscriptionResource, names: readonly string[]): Slim {
  const named = new Set<string>(
    names.flatMap((name) => partsByName[name as keyof typeof partsByName] ?? []),
  );
  const left = new Set<string>(parts.filter((part) => !named.has(part)));
  const kept = Object.entries(resource).filter(([member]) => !left.has(member));
  return Object.fromEntries(kept) as Slim;
}

export const slimRoutes = {
  'GET /subscriptions/{id}/v2': route({
    operationId: 'getSubscriptionV2',
    summary: 'Get a subscription, with only those of its parts that `expand` names',
    tag: 'Subscriptions',
    status: 200,
    permission: 'subscription:read',
    params: z.object({ id: referenceSchema('subs') }),
    query: z.object({ expand: slimExpansion.parameter }),
    response: slimSchema,
    handle: async (context, { params: { id }, query: { expand = [] } }) => {
      const { resource, revision } = await foundById(
        context,
        subscriptionTable,
        'subscription',
        id,
      );
      const slim = slimOf(resource, expand);
      const [shown = slim] = await slimExpansion.show(context, [slim], expand);
      return withETag(shown, revision);
    },
  }),
} satisfies Routes;
