import { type Module, module } from '@counterfoil/engine/define';
import { group } from './group.ts';
import type { GroupMembers } from './members.ts';
import { groupTable } from './projection.ts';
import { groupPublicEvents } from './public-events.ts';
import { groupRoutes } from './routes.ts';

export {
  archiveGroup,
  createGroup,
  type GroupRecord,
  type GroupState,
  group,
  groupView,
} from './group.ts';
export type { GroupMembers } from './members.ts';
export { groupTable } from './projection.ts';
export { groupsById } from './queries.ts';
export { groupReference } from './reference.ts';
export {
  type CreateGroup,
  createGroupSchema,
  type Group,
  type GroupEntity,
  groupSchema,
} from './schema.ts';

/** Named groups of features or of prices. `members` know who is in a group. */
export const groups = ({ members }: { readonly members: readonly GroupMembers[] }): Module =>
  module({
    name: 'groups',
    aggregates: [group],
    tables: [groupTable],
    routes: groupRoutes(members),
    publicEvents: [groupPublicEvents],
  });

/** The routes with their exact types, for the typed client. */
export type GroupRoutes = ReturnType<typeof groupRoutes>;
