import { module } from '@counterfoil/engine/define';
import { alertTable } from './alert-log.ts';
import { alertLogRoutes } from './routes.ts';

/** Alerts that were raised, from the logs of those that raise them. */
export const alertLog = module({
  name: 'alert-log',
  aggregates: [],
  tables: [alertTable],
  routes: alertLogRoutes,
  publicEvents: [],
});

/** The routes with their exact types, for the typed client. */
export type AlertLogRoutes = typeof alertLogRoutes;
