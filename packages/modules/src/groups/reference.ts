import type { RequestContext } from '@counterfoil/engine/define';
import { invalidField } from '@counterfoil/kernel';
import { referredRecord } from '../references.ts';
import { type GroupRecord, group } from './group.ts';
import type { GroupEntity } from './schema.ts';

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
  const record = await referredRecord(context, group, { id, what: 'group', field });
  if (record.entity_type !== entityType) {
    throw invalidField(`/${field}`, `is a group of ${record.entity_type}s, not of ${entityType}s`);
  }
  return record;
}
