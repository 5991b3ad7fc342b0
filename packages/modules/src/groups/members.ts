import type { RequestContext } from '@counterfoil/engine/define';
import type { GroupId } from '@counterfoil/kernel';
import { countOf, type Use } from '../uses.ts';
import type { Group, GroupEntity } from './schema.ts';

/**
 * The records of one kind that are in a group. Slices above this one answer it, because the members
 * name their group and not the other way round.
 */
export interface GroupMembers {
  readonly entityType: GroupEntity;
  /** Up to 1,000 ids, and how many members there are in all. */
  readonly membersOf: (
    context: RequestContext,
    groupId: GroupId,
  ) => Promise<{ readonly ids: readonly string[]; readonly total: number }>;
}

/** The uses that keep a group from being deleted: its members, such as "3 features". */
export const usesBy = (members: readonly GroupMembers[]): readonly Use<'group'>[] =>
  members.map(({ entityType, membersOf }) => async (context, groupId) => {
    const { total } = await membersOf(context, groupId);
    return countOf(total, entityType);
  });

/** The group with the ids of its members. */
export async function withMembers(
  context: RequestContext,
  shown: Group,
  members: readonly GroupMembers[],
): Promise<Group> {
  const entity_ids: string[] = [];
  for (const { entityType, membersOf } of members) {
    if (entityType !== shown.entity_type) continue;
    entity_ids.push(...(await membersOf(context, shown.id as GroupId)).ids);
  }
  return { ...shown, entity_ids };
}
