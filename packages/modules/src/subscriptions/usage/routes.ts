import { newRecord, type Routes, route } from '@counterfoil/engine/define';
import { usageCharges } from './charges.ts';
import { subscriptionUsageSchema, usageChargesSchema } from './schema.ts';

/** The route of what the usage of a subscription costs. */
export const subscriptionUsageRoutes = {
  'POST /subscriptions/usage': route({
    operationId: 'getUsageBySubscription',
    summary: 'Get what the usage of a subscription costs',
    description:
      'By line, in the period that runs or in a span: `amount` is gross, `net_amount` without what entitlements make free.',
    tag: 'Subscriptions',
    status: 200,
    permission: 'subscription:read',
    body: subscriptionUsageSchema,
    response: usageChargesSchema,
    example: { body: { subscription_id: newRecord('subs') } },
    handle: (context, { body }) => usageCharges(context, body),
  }),
} satisfies Routes;
