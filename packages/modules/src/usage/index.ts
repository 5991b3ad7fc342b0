import { module } from '@counterfoil/engine/define';
import type { GrantsOf } from '../entitlements/index.ts';
import { currentUsageRoutes } from './current/routes.ts';
import { KnownLookups } from './known-lookups.ts';
import { RecentUsage } from './recent-usage.ts';
import { rejectedUsageRoutes } from './rejected/routes.ts';
import { ingestionRoutes, usageListRoutes } from './routes.ts';
import { customerUsageRoutes } from './summary/routes.ts';
import { usageTables } from './tables.ts';
import { usageTraceRoutes } from './trace/routes.ts';
import { usageQuestionRoutes } from './usage-routes.ts';
import { usageVoidRoutes } from './voids/routes.ts';
import { usageVoid } from './voids/usage-void.ts';

export { usageIntake } from './usage-event.ts';

const routes = (grantsOf: GrantsOf) => ({
  ...ingestionRoutes({ recent: new RecentUsage(), lookups: new KnownLookups() }),
  ...usageListRoutes,
  ...rejectedUsageRoutes,
  ...usageQuestionRoutes,
  ...usageTraceRoutes,
  ...currentUsageRoutes,
  ...usageVoidRoutes,
  ...customerUsageRoutes(grantsOf),
});

/**
 * Usage: what customers used of what, as their systems tell it. `grantsOf` knows what their subscriptions
 * give them.
 */
export const usage = ({ grantsOf }: { readonly grantsOf: GrantsOf }) =>
  module({
    name: 'usage',
    aggregates: [usageVoid],
    tables: [],
    facts: [usageTables],
    routes: routes(grantsOf),
    publicEvents: [],
  });

/** The routes with their exact types, for the typed client. */
export type UsageRoutes = ReturnType<typeof routes>;
