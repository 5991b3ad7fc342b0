import type { Routes } from '@counterfoil/engine/define';
import { entitlementRoutes } from './entitlement/routes.ts';
import { creditGrantRoutes } from './grant/routes.ts';
import { groupMemberRoutes } from './group-routes.ts';
import { noSubscriptions, type OfSubscriptions } from './of-subscriptions.ts';
import { priceRoutes } from './price/routes.ts';
import { rootRoutes } from './root/routes.ts';

/** The routes of offers and of all that they own. `of` keeps what subscriptions have of their own. */
export const offerRoutes = (of: OfSubscriptions = noSubscriptions) =>
  ({
    ...rootRoutes,
    ...priceRoutes,
    ...entitlementRoutes(of),
    ...creditGrantRoutes(of),
    ...groupMemberRoutes,
  }) satisfies Routes;
