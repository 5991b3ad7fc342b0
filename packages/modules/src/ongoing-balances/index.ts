import { module } from '@counterfoil/engine/define';
import { balanceRoutes } from './routes.ts';

export { realTimeBalance } from './queries.ts';

/** What wallets have left once everything is paid that is owed; alerts and automatic top-up that follow from it. */
export const ongoingBalancesModule = module({
  name: 'ongoing balances',
  aggregates: [],
  tables: [],
  routes: balanceRoutes,
  publicEvents: [],
});

/** The routes with their exact types, for the typed client. */
export type OngoingBalanceRoutes = typeof balanceRoutes;
