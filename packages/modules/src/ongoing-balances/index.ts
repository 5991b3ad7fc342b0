import { module } from '@counterfoil/engine/define';
import { usageOfTables } from '../invoices/index.ts';
import { balanceLooks, invoicesLookedAt } from './look.ts';
import { usagePaidFor } from './paying.ts';
import { balanceRoutes } from './routes.ts';
import { watchingOfTables } from './watching.ts';

export { invoicesLookedAt, type Looking, lookAtBalances } from './look.ts';
export { realTimeBalance } from './queries.ts';
export { balanceRoutesWith } from './routes.ts';

const looking = { usage: usageOfTables, watching: watchingOfTables };

/** The balances that wallets have once everything is paid that is owed, with the alerts and top-ups that follow from them. */
export const ongoingBalancesModule = module({
  name: 'ongoing balances',
  aggregates: [],
  tables: [],
  routes: balanceRoutes,
  publicEvents: [],
  factWork: [balanceLooks(looking)],
  reactions: [invoicesLookedAt(looking), usagePaidFor],
});

/** The routes with their exact types, for the typed client. */
export type OngoingBalanceRoutes = typeof balanceRoutes;
