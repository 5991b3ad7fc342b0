import { z } from 'zod';
import type { Stamp } from './aggregate.ts';
import { type Instant, instantSchema } from './instant.ts';
import { requiredTextSchema, textSchema } from './text.ts';

/** Life of a record: published, then archived or deleted (D15). */
export const recordStatusSchema = z
  .enum(['published', 'deleted', 'archived'])
  .meta({ id: 'RecordStatus', description: 'Life of the record' });
export type RecordStatus = z.output<typeof recordStatusSchema>;

/** Wire shape of the stamps that every record carries (specification §2.1). */
export const recordStampsShape = {
  id: z.string(),
  tenant_id: z.string(),
  environment_id: z.string(),
  created_at: instantSchema,
  created_by: z.string(),
  updated_at: instantSchema,
  updated_by: z.string(),
} as const;

/** The stamps inside a state: everything of the wire shape but the id. */
export interface RecordStamps {
  readonly tenant_id: string;
  readonly environment_id: string;
  readonly created_at: Instant;
  readonly created_by: string;
  readonly updated_at: Instant;
  readonly updated_by: string;
}

const actorName = (stamp: Stamp): string => stamp.actor.user_id ?? 'system';

/** The stamps of a record that the event has just created. */
export const createdStamps = (stamp: Stamp): RecordStamps => ({
  tenant_id: stamp.tenant_id,
  environment_id: stamp.environment_id ?? '',
  created_at: stamp.occurred_at,
  created_by: actorName(stamp),
  ...updatedStamps(stamp),
});

/** The stamps that an event changes on an existing record. */
export const updatedStamps = (stamp: Stamp): Pick<RecordStamps, 'updated_at' | 'updated_by'> => ({
  updated_at: stamp.occurred_at,
  updated_by: actorName(stamp),
});

export type Metadata = Readonly<Record<string, string>>;

const maximumPairs = 50;

/**
 * Passes metadata on to the checks of its keys and values, unless there are too many of them, or a value is no
 * text: then its first fault is enough.
 */
function countPairs(pairs: Metadata, context: z.RefinementCtx): Metadata {
  if (typeof pairs !== 'object' || pairs === null) return pairs;
  const entries = Object.entries(pairs);
  if (entries.length > maximumPairs) {
    context.addIssue(`must have at most ${maximumPairs} keys`);
    return z.NEVER;
  }
  const wrong = entries.find(([, value]) => typeof value !== 'string');
  if (wrong === undefined) return pairs;
  context.addIssue({ code: 'custom', path: [wrong[0]], message: 'must be a string' });
  return z.NEVER;
}

/** Free key-value pairs of a record: string to string, bounded (D8). */
export const metadataSchema = z
  .preprocess(countPairs, z.record(requiredTextSchema(64), textSchema(1024)))
  .meta({
    id: 'Metadata',
    description: 'At most 50 pairs; keys up to 64, values up to 1,024 characters',
    maxProperties: maximumPairs,
  });
