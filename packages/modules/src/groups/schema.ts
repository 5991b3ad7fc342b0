import {
  metadataSchema,
  recordStampsShape,
  recordStatusSchema,
  requiredTextSchema,
} from '@counterfoil/kernel';
import { z } from 'zod';

/** The kind of a group's members. All members of a group are of one kind. */
export const groupEntitySchema = z.enum(['price', 'feature']);
export type GroupEntity = z.output<typeof groupEntitySchema>;

export const createGroupSchema = z
  .object({
    name: requiredTextSchema(255),
    lookup_key: requiredTextSchema(255),
    entity_type: groupEntitySchema,
    metadata: metadataSchema.default({}),
  })
  .meta({ id: 'CreateGroup' });

/** The group on the wire (specification §2.6). */
export const groupSchema = z
  .object({
    ...recordStampsShape,
    status: recordStatusSchema,
    name: z.string(),
    lookup_key: z.string(),
    entity_type: groupEntitySchema,
    entity_ids: z
      .array(z.string())
      .optional()
      .meta({ description: 'Up to 1,000 members; only where the group itself is read' }),
    metadata: metadataSchema,
  })
  .meta({ id: 'Group' });
export type Group = z.output<typeof groupSchema>;
