import type { RequestContext } from '@counterfoil/engine/define';
import { invalidField } from '@counterfoil/kernel';
import { z } from 'zod';
import { type EventsOf, type RecordOf, record } from '../record/index.ts';
import { createGroupSchema, type GroupEntity, groupEntitySchema, groupSchema } from './schema.ts';

/**
 * A group. Membership is written at the members, so that a group can grow without a limit of its
 * own.
 */
export const groupRecords = record({
  name: 'group',
  called: 'group',
  prefix: 'group',
  life: {
    created: { event: 'GroupCreated', publishes: 'group.created', when: 'A group is created' },
    archived: { event: 'GroupArchived', publishes: 'group.deleted', when: 'A group is archived' },
  },
  fixed: {
    name: z.string(),
    lookup_key: z.string(),
    entity_type: groupEntitySchema,
    metadata: z.record(z.string(), z.string()),
  },
  changeable: {},
  unique: { field: 'lookup_key' },
  request: { schema: createGroupSchema, fields: (request) => request },
  schema: groupSchema,
  view: (group) => ({ ...group }),
  table: {
    name: 'groups',
    version: 1,
    columns: {
      name: { type: 'text', of: ({ name }) => name },
      lookup_key: { type: 'text', of: ({ lookup_key }) => lookup_key, index: true },
      entity_type: { type: 'text', of: ({ entity_type }) => entity_type },
    },
  },
});

export type GroupEvent = EventsOf<typeof groupRecords>;
type GroupRecord = RecordOf<typeof groupRecords>;
export const {
  aggregate: group,
  createFrom: createGroup,
  archive: archiveGroup,
  view: groupView,
} = groupRecords;

/**
 * The group that a field of a request names for a member of one kind, from the log and so never
 * behind. Unknown: 404 naming the field; archived, or a group of another kind: 400.
 */
export async function groupReference(
  context: RequestContext,
  id: string,
  entityType: GroupEntity,
  field = 'group_id',
): Promise<GroupRecord> {
  const record = await groupRecords.referred(context, id, field);
  if (record.entity_type !== entityType) {
    throw invalidField(`/${field}`, `is a group of ${record.entity_type}s, not of ${entityType}s`);
  }
  return record;
}
