import type { Routes } from '@counterfoil/engine/define';
import type { Use } from '../uses.ts';
import { addonRoutes } from './addon/routes.ts';
import { costsheetRoutes } from './costsheet/routes.ts';
import { entitlementRoutes } from './entitlement/routes.ts';
import { creditGrantRoutes } from './grant/routes.ts';
import { groupMemberRoutes } from './group-routes.ts';
import { planRoutes } from './plan/routes.ts';
import { priceRoutes } from './price/routes.ts';

/** The uses that may keep an offer from going out of use. Slices above this one answer them. */
export interface OfferUses {
  readonly plansInUse: readonly Use<'plan'>[];
  readonly addonsInUse: readonly Use<'addon'>[];
}

/** The routes of offers and of all that they own. */
export const offerRoutes = ({ plansInUse, addonsInUse }: OfferUses) =>
  ({
    ...planRoutes(plansInUse),
    ...priceRoutes,
    ...entitlementRoutes,
    ...addonRoutes(addonsInUse),
    ...creditGrantRoutes,
    ...costsheetRoutes,
    ...groupMemberRoutes,
  }) satisfies Routes;
