import {
  type AddonId,
  type EventOf,
  existing,
  type Metadata,
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

const changeableData = {
  name: z.string(),
  description: z.string().nullable(),
  metadata: z.record(z.string(), z.string()),
} as const;

export const addonEvents = {
  /** The lookup_key of an add-on is for ever. */
  AddonCreated: z.object({
    id: referenceSchema('addon'),
    lookup_key: z.string(),
    ...changeableData,
  }),
  /** Only what changed. */
  AddonUpdated: z.object({ changes: z.object(changeableData).partial() }),
  AddonArchived: takenAlongData,
} as const;
export type AddonEvent = EventOf<typeof addonEvents>;

export interface AddonFields {
  readonly name: string;
  readonly description: string | null;
  readonly metadata: Metadata;
}

export interface AddonRecord extends AddonFields, Kept {
  readonly id: AddonId;
  readonly lookup_key: string;
}

/** The add-on itself after one of its events. */
export function addonAfter(before: AddonRecord | null, event: Stamped<AddonEvent>): AddonRecord {
  const { stamp } = event;
  switch (event.type) {
    case 'AddonCreated':
      return createdRecord(event.data, stamp);
    case 'AddonUpdated':
      return changedRecord(existing(before, 'add-on'), event.data.changes, stamp);
    case 'AddonArchived':
      return closedRecord(existing(before, 'add-on'), 'archived', stamp);
    default:
      return event satisfies never;
  }
}
