import { type RequestContext, type Routes, where } from '@counterfoil/engine/define';
import { featureRecords } from '../features/index.ts';
import { type Group, groupRecords } from '../groups/index.ts';
import { recordRoutes } from '../record/index.ts';
import { priceTable } from './projection.ts';

/** The first 1,000 members of a group, newest first. */
async function membersOf(context: RequestContext, { id, entity_type }: Group): Promise<string[]> {
  const page = { limit: 1000, offset: 0 };
  const own = where('group_id', 'eq', id);
  const { items } =
    entity_type === 'feature'
      ? await context.read.list(featureRecords.table, page, own)
      : await context.read.list(priceTable, page, own);
  return items.map((member) => member.id);
}

const records = recordRoutes(groupRecords, {
  tag: 'Groups',
  right: 'group',
  embedding: {
    read: (context, groups) =>
      Promise.all(
        groups.map(async (group) => ({ ...group, entity_ids: await membersOf(context, group) })),
      ),
  },
});

/** A group with its members. They name their group, so the slice of the last of them answers it. */
export const groupMemberRoutes = {
  'GET /groups/{id}': records.get({ summary: 'Get a group with the ids of its members' }),
} satisfies Routes;
