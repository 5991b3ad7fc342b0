import { unused } from '@counterfoil/engine/define';
import { instantSchema, requiredTextSchema, timeZoneSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { featureSchema } from '../../features/index.ts';
import { groupSchema } from '../../groups/index.ts';
import { aggregationTypeSchema, meterSchema, windowSizeSchema } from '../../meters/index.ts';
import { planSchema, priceSchema } from '../../offers/index.ts';
import { includeChildrenSchema, propertyFiltersSchema, usageLimits } from '../schema.ts';
import { analyticsLimits } from './limits.ts';

const name = requiredTextSchema(usageLimits.text);
const maximum = analyticsLimits.features;

/** The parts of an item that are shown where they are asked for. */
export const analyticsExpandSchema = z
  .array(
    z.enum(['feature', 'meter', 'sources', 'price', 'subscription_line_item', 'plan', 'addon']),
  )
  .max(20)
  .optional();

/** Body of POST /events/analytics. */
export const analyticsQuestionSchema = z
  .object({
    customer_id: name.optional(),
    external_customer_id: name.optional(),
    feature_ids: z.array(name).max(maximum).optional(),
    meter_ids: z.array(name).max(maximum).optional(),
    sources: z.array(name).max(100).optional(),
    start_time: instantSchema.optional(),
    end_time: instantSchema.optional(),
    group_by: z
      .array(z.string().regex(/^(feature_id|feature|source|properties\.[\s\S]{1,255})$/))
      .max(analyticsLimits.groupings)
      .optional(),
    property_filters: propertyFiltersSchema.optional(),
    window_size: windowSizeSchema.optional(),
    timezone: timeZoneSchema.optional(),
    billing_anchor: instantSchema.optional(),
    expand: analyticsExpandSchema,
    include_children: includeChildrenSchema,
    breakdown_bucket: unused,
  })
  .meta({ id: 'AnalyticsQuestion' });
export type AnalyticsQuestion = z.output<typeof analyticsQuestionSchema>;

const usage = z.string().nullable();
const count = z.number().int();
/** Money; absent where nothing prices it. */
const cost = z.string().optional();
const currency = z.string().optional();

/** The usage of a feature, or of one of its groups. */
const analyticsItemSchema = z
  .object({
    feature_id: z.string().optional(),
    name: z.string().optional(),
    unit: z.string().optional(),
    unit_plural: z.string().optional(),
    meter_id: z.string(),
    event_name: z.string(),
    aggregation_type: aggregationTypeSchema,
    feature: featureSchema.optional(),
    meter: meterSchema.optional(),
    group: groupSchema.optional(),
    price_id: z.string().optional().meta({ description: 'Where one price makes all of the cost' }),
    plan_id: z.string().optional(),
    price: priceSchema.optional(),
    plan: planSchema.optional(),
    source: z.string().optional(),
    sources: z.array(z.string()).optional(),
    properties: z.record(z.string(), z.string()).optional(),
    total_usage: usage,
    event_count: count,
    total_cost: cost,
    currency,
    window_size: windowSizeSchema.optional(),
    points: z
      .array(z.object({ timestamp: instantSchema, usage, event_count: count, cost }))
      .optional(),
  })
  .meta({ id: 'AnalyticsItem' });
export type AnalyticsItem = z.output<typeof analyticsItemSchema>;

/** Answer of POST /events/analytics. */
export const analyticsSchema = z
  .object({
    currency,
    total_cost: cost,
    items: z.array(analyticsItemSchema),
    custom_analytics: z.array(z.never()),
    position: z.string(),
  })
  .meta({ id: 'UsageAnalytics' });
export type UsageAnalytics = z.output<typeof analyticsSchema>;
