import { module } from '@counterfoil/engine/define';
import { group, groupRecords } from './group.ts';
import { groupRoutes } from './routes.ts';

export { createGroup, group, groupRecords, groupReference, groupView } from './group.ts';
export { createGroupSchema, type Group, groupSchema } from './schema.ts';

/** Named groups of features or of prices. */
export const groups = module({
  name: 'groups',
  aggregates: [group],
  tables: [groupRecords.table],
  routes: groupRoutes,
  publicEvents: [groupRecords.publicEvents],
});

/** The routes with their exact types, for the typed client. */
export type GroupRoutes = typeof groupRoutes;
