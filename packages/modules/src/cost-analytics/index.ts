import { module } from '@counterfoil/engine/define';
import { costAnalyticsRoutes } from './routes.ts';

export { costAnalytics } from './analytics.ts';
export { costAnalyticsQuestionSchema, costAnalyticsSchema } from './schema.ts';

/** The margins of customers: what they bring, less what their usage costs by the costsheet. */
export const costAnalyticsModule = module({
  name: 'cost-analytics',
  aggregates: [],
  tables: [],
  routes: costAnalyticsRoutes,
  publicEvents: [],
});

/** The routes with their exact types, for the typed client. */
export type CostAnalyticsRoutes = typeof costAnalyticsRoutes;
