import {
  type CostsheetId,
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

const fieldsData = {
  name: z.string(),
  lookup_key: z.string().nullable(),
  description: z.string().nullable(),
  metadata: z.record(z.string(), z.string()),
} as const;

export const costsheetEvents = {
  CostsheetCreated: z.object({ id: referenceSchema('cost'), ...fieldsData }),
  /** Only what changed. */
  CostsheetUpdated: z.object({ changes: z.object(fieldsData).partial() }),
  CostsheetDeleted: takenAlongData,
} as const;
export type CostsheetEvent = EventOf<typeof costsheetEvents>;

export interface CostsheetFields {
  readonly name: string;
  readonly lookup_key: string | null;
  readonly description: string | null;
  readonly metadata: Metadata;
}

export interface CostsheetRecord extends CostsheetFields, Kept {
  readonly id: CostsheetId;
}

/** The costsheet itself after one of its events. */
export function costsheetAfter(
  before: CostsheetRecord | null,
  event: Stamped<CostsheetEvent>,
): CostsheetRecord {
  const { stamp } = event;
  switch (event.type) {
    case 'CostsheetCreated':
      return createdRecord(event.data, stamp);
    case 'CostsheetUpdated':
      return changedRecord(existing(before, 'costsheet'), event.data.changes, stamp);
    case 'CostsheetDeleted':
      return closedRecord(existing(before, 'costsheet'), 'deleted', stamp);
    default:
      return event satisfies never;
  }
}
