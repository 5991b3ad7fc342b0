import { type Module, module } from '@counterfoil/engine/define';
import type { GrantsOf } from '../entitlements/index.ts';
import { entitlementCheckRoutes } from './routes.ts';

export type { EntitlementCheck } from './schema.ts';

/** Answers whether a customer may use something now. `grantsOf` knows what its subscriptions give it. */
export const entitlementChecks = ({ grantsOf }: { readonly grantsOf: GrantsOf }): Module =>
  module({
    name: 'entitlement checks',
    aggregates: [],
    tables: [],
    routes: entitlementCheckRoutes(grantsOf),
    publicEvents: [],
  });

/** The routes with their exact types, for the typed client. */
export type EntitlementCheckRoutes = ReturnType<typeof entitlementCheckRoutes>;
