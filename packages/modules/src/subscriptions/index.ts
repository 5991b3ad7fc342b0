import { dueWork, module } from '@counterfoil/engine/define';
import { creditsOfSettlements } from './credits/reactions.ts';
import { takeDue } from './decisions.ts';
import { grantApplicationTable } from './grants/projection.ts';
import { grantedCredits } from './grants/reactions.ts';
import { grantRoutes } from './grants/routes.ts';
import { lineItemRoutes } from './lines/routes.ts';
import { modificationRoutes } from './modify/routes.ts';
import { lineItemTable, settlementTable, subscriptionTable } from './projection.ts';
import { subscriptionPublicEvents } from './public-events.ts';
import { subscriptionRoutes } from './routes.ts';
import { subscription } from './subscription.ts';
import { subscriptionUsageRoutes } from './usage/routes.ts';

export { grantsOf } from './entitlements/grants.ts';
export { subscription } from './subscription.ts';

/** Takes the steps of subscriptions whose time has come (ADR 41). */
const steps = dueWork({
  name: 'subscription steps',
  table: subscriptionTable,
  column: 'due_at',
  run: (context, id) => context.execute(subscription, id, takeDue(id)),
});

const routes = {
  ...subscriptionRoutes,
  ...grantRoutes,
  ...lineItemRoutes,
  ...modificationRoutes,
  ...subscriptionUsageRoutes,
};

/** The plans that customers have for a time, and everything that happens to them as time passes. */
export const subscriptions = module({
  name: 'subscriptions',
  aggregates: [subscription],
  tables: [subscriptionTable, lineItemTable, settlementTable, grantApplicationTable],
  routes,
  publicEvents: [subscriptionPublicEvents],
  reactions: [creditsOfSettlements, grantedCredits],
  dueWork: [steps],
});

/** The routes with their exact types, for the typed client. */
export type SubscriptionRoutes = typeof routes;
