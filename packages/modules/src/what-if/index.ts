import { module } from '@counterfoil/engine/define';
import { whatIfRoutes } from './routes.ts';

export { whatIfAnswerSchema, whatIfSchema } from './schema.ts';
export { priceUnderPlan } from './what-if.ts';

/** The history of customers under another plan. */
export const whatIf = module({
  name: 'what-if',
  aggregates: [],
  tables: [],
  routes: whatIfRoutes,
  publicEvents: [],
});

/** The routes with their exact types, for the typed client. */
export type WhatIfRoutes = typeof whatIfRoutes;
