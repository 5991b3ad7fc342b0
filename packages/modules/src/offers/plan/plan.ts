import {
  type EventOf,
  existing,
  type Metadata,
  type PlanId,
  referenceSchema,
  type Stamped,
} from '@counterfoil/kernel';
import { z } from 'zod';
import {
  changedRecord,
  closedRecord,
  createdRecord,
  type Kept,
  takenAlongData,
} from '../records.ts';

const fieldsData = {
  name: z.string(),
  lookup_key: z.string().nullable(),
  description: z.string().nullable(),
  display_order: z.number().int().nullable(),
  metadata: z.record(z.string(), z.string()),
} as const;

export const planEvents = {
  PlanCreated: z.object({ id: referenceSchema('plan'), ...fieldsData }),
  /** Only what changed. */
  PlanUpdated: z.object({ changes: z.object(fieldsData).partial() }),
  PlanArchived: takenAlongData,
} as const;
export type PlanEvent = EventOf<typeof planEvents>;

export interface PlanFields {
  readonly name: string;
  readonly lookup_key: string | null;
  readonly description: string | null;
  readonly display_order: number | null;
  readonly metadata: Metadata;
}

export interface PlanRecord extends PlanFields, Kept {
  readonly id: PlanId;
}

/** The plan itself after one of its events; its prices and the like are records of their own. */
export function planAfter(before: PlanRecord | null, event: Stamped<PlanEvent>): PlanRecord {
  const { stamp } = event;
  switch (event.type) {
    case 'PlanCreated':
      return createdRecord(event.data, stamp);
    case 'PlanUpdated':
      return changedRecord(existing(before, 'plan'), event.data.changes, stamp);
    case 'PlanArchived':
      return closedRecord(existing(before, 'plan'), 'archived', stamp);
    default:
      return event satisfies never;
  }
}
