import {
  instantSchema,
  metadataSchema,
  recordStampsShape,
  recordStatusSchema,
} from '@counterfoil/kernel';
import { z } from 'zod';

/** A phase on the wire (specification §2.19). */
export const phaseSchema = z
  .object({
    ...recordStampsShape,
    status: recordStatusSchema,
    subscription_id: z.string(),
    start_date: instantSchema,
    end_date: instantSchema.optional(),
    metadata: metadataSchema,
  })
  .meta({ id: 'SubscriptionPhase' });
export type PhaseResource = z.output<typeof phaseSchema>;
