import {
  type CreditGrantId,
  type EventOf,
  existing,
  instantSchema,
  recordStatusSchema,
  referenceSchema,
  type Stamped,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { ownerData } from '../owner.ts';
import { changedRecord, createdRecord, type Kept } from '../records.ts';
import {
  durationUnitSchema,
  expirationTypeSchema,
  grantCadenceSchema,
  grantPeriodSchema,
} from './schema.ts';

/** The fields that may change after the grant has been made. */
const changeableData = {
  name: z.string(),
  metadata: z.record(z.string(), z.string()),
} as const;

const creditGrantData = z.object({
  id: referenceSchema('cg'),
  ...ownerData,
  ...changeableData,
  credits: z.string(),
  cadence: grantCadenceSchema,
  /** Of a recurring grant: granted again every `period_count` periods. */
  period: grantPeriodSchema.nullable(),
  period_count: z.number().int().nullable(),
  expiration_type: expirationTypeSchema,
  expiration_duration: z.number().int().nullable(),
  expiration_duration_unit: durationUnitSchema.nullable(),
  /** Lower first; null last. */
  priority: z.number().int().nullable(),
  /** For a wallet that has to be made for the credits. */
  conversion_rate: z.string().nullable(),
  topup_conversion_rate: z.string().nullable(),
  /** Not granted any more from here on; null: without end. */
  end_date: instantSchema.nullable(),
});
export type CreditGrantData = z.output<typeof creditGrantData>;

export const creditGrantEvents = {
  CreditGrantCreated: creditGrantData,
  CreditGrantUpdated: z.object({
    id: referenceSchema('cg'),
    changes: z.object(changeableData).partial(),
  }),
  /** Not granted any more from `end_date` on; archived when that is now. */
  CreditGrantEnded: z.object({
    id: referenceSchema('cg'),
    end_date: instantSchema,
    status: recordStatusSchema,
  }),
} as const;
export type CreditGrantEvent = EventOf<typeof creditGrantEvents>;

export interface CreditGrantRecord extends CreditGrantData, Kept {
  readonly id: CreditGrantId;
}

/** A credit grant after one of its events. */
export function creditGrantAfter(
  before: CreditGrantRecord | null,
  event: Stamped<CreditGrantEvent>,
): CreditGrantRecord {
  const { stamp } = event;
  switch (event.type) {
    case 'CreditGrantCreated':
      return createdRecord(event.data, stamp);
    case 'CreditGrantUpdated':
      return changedRecord(existing(before, 'credit grant'), event.data.changes, stamp);
    case 'CreditGrantEnded': {
      const { end_date, status } = event.data;
      return changedRecord(existing(before, 'credit grant'), { end_date, status }, stamp);
    }
    default:
      return event satisfies never;
  }
}
