import {
  instantSchema,
  metadataSchema,
  recordStampsShape,
  recordStatusSchema,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { subscriptionStatusSchema } from '../values.ts';

/** An application of a credit grant on the wire (specification §2.10; D1, D53). */
export const grantApplicationSchema = z
  .object({
    ...recordStampsShape,
    status: recordStatusSchema,
    credit_grant_id: z.string(),
    subscription_id: z.string(),
    credits: z.number().meta({ description: 'Credits, to the nearest double' }),
    exact_credits: z.string().meta({ description: 'Credits, exactly' }),
    scheduled_for: instantSchema,
    applied_at: instantSchema.optional(),
    period_start: instantSchema,
    period_end: instantSchema.optional(),
    application_status: z.enum(['pending', 'applied', 'failed', 'skipped', 'cancelled']),
    application_reason: z.enum([
      'first_time_recurring_credit_grant',
      'recurring_credit_grant',
      'onetime_credit_grant',
    ]),
    subscription_status_at_application: subscriptionStatusSchema.optional(),
    failure_reason: z.string().optional(),
    retry_count: z.number().int(),
    idempotency_key: z.string(),
    metadata: metadataSchema,
  })
  .meta({ id: 'CreditGrantApplication' });
export type GrantApplication = z.output<typeof grantApplicationSchema>;
