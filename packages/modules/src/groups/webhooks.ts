import { publisher } from '@counterfoil/engine/define';
import { group, groupView } from './group.ts';

const messageTypes = { GroupCreated: 'group.created', GroupArchived: 'group.deleted' } as const;

/** Every change of a group is published, with the whole group as it is after the change. */
export const groupPublisher = publisher(group, ({ event, after }) => {
  const resource = groupView(after);
  return [{ type: messageTypes[event.type], resourceId: resource.id, body: { group: resource } }];
});
