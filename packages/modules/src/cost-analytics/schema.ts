import { expandParameter, pageSchema, shortPageShape } from '@counterfoil/engine/define';
import { instantSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { customerSchema } from '../customers/index.ts';
import { featureSchema } from '../features/index.ts';
import { meterSchema } from '../meters/index.ts';
import { planSchema, priceSchema } from '../offers/index.ts';
import { includeChildrenSchema, propertyFiltersSchema } from '../usage/index.ts';

/** Customers of one answer: the usage of each is read for every meter of the costsheet. */
export const customersMaximum = 50;
/** Days of a span at most. */
export const daysMaximum = 366;

const text = (description: string) => z.string().meta({ description });
const textOrNull = (description: string) => z.string().nullable().meta({ description });

const nameSchema = z.string().min(1).max(255).optional();

/** Body of POST /costs/analytics (specification §10.2). */
export const costAnalyticsQuestionSchema = z
  .object({
    start_time: instantSchema.meta({ description: 'Beginning of the span' }),
    end_time: instantSchema.meta({
      description: `Its end, exclusive; at most ${daysMaximum} days later`,
    }),
    customer_id: nameSchema.meta({ description: 'This customer alone' }),
    external_customer_id: nameSchema.meta({ description: 'The same, by its external_id' }),
    feature_ids: z.array(z.string().min(1).max(64)).min(1).max(100).optional().meta({
      description: 'What these features bring and cost alone; fixed charges are left out',
    }),
    expand: expandParameter(['customer', 'plan', 'feature', 'meter', 'price']),
    include_children: includeChildrenSchema,
    property_filters: propertyFiltersSchema.optional().meta({
      description:
        'For every property, its values of which an event has one: what such usage brings and costs alone; fixed charges are left out',
    }),
    ...shortPageShape(customersMaximum),
  })
  .meta({ id: 'CostAnalyticsQuestion' });
export type CostAnalyticsQuestion = z.output<typeof costAnalyticsQuestionSchema>;

const marginShape = {
  currency: text('Code of the currency: nothing is exchanged'),
  revenue: text('What final invoices have charged, after discounts and credit notes, without tax'),
  cost: text('What the usage has cost by the active costsheet, exact'),
  margin: text('revenue − cost'),
  margin_ratio: textOrNull('margin ÷ revenue, to six digits; null without revenue'),
  return_on_cost: textOrNull('margin ÷ cost, to six digits; null without cost'),
} as const;

const marginSchema = z.object(marginShape).meta({ id: 'Margin' });
export type Margin = z.output<typeof marginSchema>;

const customerMarginsSchema = z
  .object({
    customer_id: text('Id of the customer'),
    external_customer_id: text('Its external_id'),
    margins: z.array(marginSchema).meta({ description: 'One of each currency' }),
    customer: customerSchema.optional(),
  })
  .meta({ id: 'CustomerMargins' });
export type CustomerMargins = z.output<typeof customerMarginsSchema>;

const planMarginSchema = z
  .object({
    plan_id: textOrNull('The plan; null: of none, or of several that cannot be told apart'),
    ...marginShape,
    plan: planSchema.optional(),
  })
  .meta({ id: 'PlanMargin' });
export type PlanMargin = z.output<typeof planMarginSchema>;

const featureMarginSchema = z
  .object({
    meter_id: textOrNull('The meter; null: whatever no meter counts, such as fixed charges'),
    feature_ids: z.array(z.string()).meta({ description: 'The features of the meter' }),
    ...marginShape,
    meter: meterSchema.optional(),
    features: z.array(featureSchema).optional(),
    prices: z
      .array(priceSchema)
      .optional()
      .meta({ description: 'Prices of the costsheet for the meter, in the currency' }),
  })
  .meta({ id: 'FeatureMargin' });
export type FeatureMargin = z.output<typeof featureMarginSchema>;

/** Answer of POST /costs/analytics: a page of customers, with the sums of those. */
export const costAnalyticsSchema = pageSchema(customerMarginsSchema)
  .extend({
    costsheet_id: text('The active costsheet'),
    start_time: text('Beginning of the span'),
    end_time: text('End of the span, exclusive'),
    position: text('Position of the log up to which usage counts'),
    totals: z.array(marginSchema).meta({ description: 'All customers of the page together' }),
    plans: z.array(planMarginSchema).meta({ description: 'The same by plan' }),
    features: z
      .array(featureMarginSchema)
      .meta({ description: 'The same by meter, and so by feature' }),
    fixed_price_ids: z.array(z.string()).meta({
      description: 'Fixed prices of the costsheet: they are costs of no customer, and left out',
    }),
  })
  .meta({ id: 'CostAnalytics' });
export type CostAnalytics = z.output<typeof costAnalyticsSchema>;
