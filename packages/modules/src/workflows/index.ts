import { module } from '@counterfoil/engine/define';
import { workflowRoutes } from './routes.ts';
import { workflowTable } from './workflows.ts';

/** Work that goes on in the background, from the logs of those that carry it out. */
export const workflows = module({
  name: 'workflows',
  aggregates: [],
  tables: [workflowTable],
  routes: workflowRoutes,
  publicEvents: [],
});

/** The routes with their exact types, for the typed client. */
export type WorkflowRoutes = typeof workflowRoutes;
