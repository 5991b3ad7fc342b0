import { publicEvents } from '@counterfoil/engine/define';
import { z } from 'zod';
import { group, groupView } from './group.ts';
import { groupSchema } from './schema.ts';

const messageTypes = { GroupCreated: 'group.created', GroupArchived: 'group.deleted' } as const;

const body = z.object({ group: groupSchema });

/** Every change of a group is published, with the whole group as it is after the change. */
export const groupPublicEvents = publicEvents(
  group,
  ({ event, after }) => {
    const resource = groupView(after);
    return [{ type: messageTypes[event.type], resourceId: resource.id, body: { group: resource } }];
  },
  {
    'group.created': { summary: 'A group is created', body },
    'group.deleted': { summary: 'A group is archived', body },
  },
);
