import {
  clearable,
  instantSchema,
  metadataSchema,
  recordStampsShape,
  recordStatusSchema,
  textSchema,
  withConditions,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { pauseModeSchema, pauseStatusSchema, resumeModeSchema } from '../values.ts';

const pairsSchema = metadataSchema.nullish().transform((pairs) => pairs ?? undefined);

/** Body of POST /subscriptions/{id}/pause, as the 2.0.x clients send it (D52). */
export const pauseSubscriptionSchema = withConditions(
  z.object({
    pause_mode: pauseModeSchema,
    pause_start: instantSchema.nullish(),
    pause_end: instantSchema.nullish(),
    pause_days: z.number().int().min(1).max(3650).nullish(),
    bill_usage: z.boolean().nullish().meta({ description: 'Default: usage in it is not billed' }),
    reason: clearable(textSchema(1000)).optional(),
    metadata: pairsSchema,
    dry_run: z.boolean().nullish(),
  }),
  [
    {
      when: { pause_mode: 'scheduled' },
      needs: 'pause_start',
      says: 'is required for pause_mode scheduled',
    },
    {
      when: { pause_mode: 'immediate' },
      lacks: 'pause_start',
      says: 'is now: leave it out, or choose pause_mode scheduled',
    },
    {
      when: { pause_mode: 'period_end' },
      lacks: 'pause_start',
      says: 'is the end of the period: leave it out',
    },
  ],
).meta({ id: 'PauseSubscription' });
export type PauseSubscription = z.output<typeof pauseSubscriptionSchema>;

/** Body of POST /subscriptions/{id}/resume, as the 2.0.x clients send it (D52). */
export const resumeSubscriptionSchema = withConditions(
  z.object({
    resume_mode: resumeModeSchema.nullish().meta({ description: 'Default: immediate' }),
    resume_at: instantSchema.nullish().meta({ description: 'Of resume_mode scheduled' }),
    metadata: pairsSchema,
    dry_run: z.boolean().nullish(),
  }),
  [
    {
      when: { resume_mode: 'scheduled' },
      needs: 'resume_at',
      says: 'is required for resume_mode scheduled',
    },
  ],
).meta({ id: 'ResumeSubscription' });

/** A pause on the wire (specification §2.19). */
export const pauseSchema = z
  .object({
    ...recordStampsShape,
    status: recordStatusSchema,
    subscription_id: z.string(),
    pause_status: pauseStatusSchema.exclude(['none']),
    pause_mode: pauseModeSchema,
    resume_mode: resumeModeSchema,
    pause_start: instantSchema,
    pause_end: instantSchema.optional(),
    resumed_at: instantSchema.optional(),
    original_period_start: instantSchema.optional(),
    original_period_end: instantSchema.optional(),
    bill_usage: z.boolean(),
    reason: z.string().optional(),
    metadata: metadataSchema,
  })
  .meta({ id: 'SubscriptionPause' });
export type PauseResource = z.output<typeof pauseSchema>;

export const pausesSchema = z
  .object({ items: z.array(pauseSchema), total: z.number().int() })
  .meta({ id: 'SubscriptionPauses' });

/** The effect of a pause on periods and money, as the public contract has it. */
export const billingImpactSchema = z
  .object({
    original_period_start: instantSchema.optional(),
    original_period_end: instantSchema.optional(),
    adjusted_period_start: instantSchema.optional(),
    adjusted_period_end: instantSchema.optional(),
    next_billing_date: instantSchema.optional(),
    pause_duration_days: z.number().int().optional(),
    current_period_adjustment: z.string(),
  })
  .meta({ id: 'PauseBillingImpact' });
export type BillingImpact = z.output<typeof billingImpactSchema>;
