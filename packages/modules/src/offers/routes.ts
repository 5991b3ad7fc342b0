import type { Routes } from '@counterfoil/engine/define';
import { entitlementRoutes } from './entitlement/routes.ts';
import { creditGrantRoutes } from './grant/routes.ts';
import { groupMemberRoutes } from './group-routes.ts';
import { priceRoutes } from './price/routes.ts';
import { rootRoutes } from './root/routes.ts';

/** The routes of offers and of all that they own. */
export const offerRoutes = {
  ...rootRoutes,
  ...priceRoutes,
  ...entitlementRoutes,
  ...creditGrantRoutes,
  ...groupMemberRoutes,
} satisfies Routes;
