import {
  instantSchema,
  metadataSchema,
  recordStampsShape,
  recordStatusSchema,
  referenceSchema,
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

/** The members of a modification that gives a phase up. */
export const removePhaseParamsSchema = z
  .object({ id: referenceSchema('phase') })
  .meta({ id: 'RemovePhaseParams' });
