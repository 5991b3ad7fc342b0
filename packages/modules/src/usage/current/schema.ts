import { instantSchema, requiredTextSchema, withConditions } from '@counterfoil/kernel';
import { z } from 'zod';
import { resetPeriodSchema } from '../../entitlements/index.ts';
import { aggregationTypeSchema } from '../../meters/index.ts';
import { usageLimits } from '../schema.ts';
import { usageValueShape } from '../usage-schema.ts';

const name = requiredTextSchema(usageLimits.text);

/** Body of POST /usage/current. */
export const currentUsageQuestionSchema = withConditions(
  z.object({
    customer_id: name.optional(),
    external_customer_id: name.optional(),
    feature_id: name.optional(),
    meter_id: name.optional(),
    reset_period: resetPeriodSchema.optional().meta({
      description: 'MONTHLY when absent; NEVER where the meter never starts over',
    }),
  }),
  [
    { oneOf: ['feature_id', 'meter_id'], says: 'either feature_id or meter_id is needed' },
    {
      someOf: ['customer_id', 'external_customer_id'],
      says: 'customer_id or external_customer_id is needed',
    },
  ],
).meta({ id: 'CurrentUsageQuestion' });
export type CurrentUsageQuestion = z.output<typeof currentUsageQuestionSchema>;

/** Questions that one request asks at most. */
export const currentUsageMaximum = 100;

/** Body of POST /usage/current/bulk. */
export const currentUsageBulkSchema = z
  .object({ items: z.array(currentUsageQuestionSchema).min(1).max(currentUsageMaximum) })
  .meta({ id: 'CurrentUsageQuestions' });

const instant = instantSchema.nullable();

/** Answer of POST /usage/current. */
export const currentUsageSchema = z
  .object({
    customer_id: z.string(),
    feature_id: z.string().nullable(),
    meter_id: z.string(),
    event_name: z.string(),
    type: aggregationTypeSchema,
    reset_period: resetPeriodSchema,
    period_start: instant.meta({ description: 'Null for NEVER' }),
    period_end: instant.meta({ description: 'When it starts over; null for NEVER' }),
    ...usageValueShape,
    position: z.string(),
  })
  .meta({ id: 'CurrentUsage' });
export type CurrentUsage = z.output<typeof currentUsageSchema>;

/** Answer of POST /usage/current/bulk. */
export const currentUsagesSchema = z
  .object({ items: z.array(currentUsageSchema) })
  .meta({ id: 'CurrentUsages' });
