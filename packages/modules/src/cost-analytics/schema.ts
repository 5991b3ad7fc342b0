import { pageSchema, shortPageShape, unused } from '@counterfoil/engine/define';
import { instantSchema } from '@counterfoil/kernel';
import { z } from 'zod';

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
    expand: unused,
    include_children: unused,
    property_filters: unused,
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

const customerSchema = z
  .object({
    customer_id: text('Id of the customer'),
    external_customer_id: text('Its external_id'),
    margins: z.array(marginSchema).meta({ description: 'One of each currency' }),
  })
  .meta({ id: 'CustomerMargins' });

/** Answer of POST /costs/analytics: a page of customers, with the sums of those. */
export const costAnalyticsSchema = pageSchema(customerSchema)
  .extend({
    costsheet_id: text('The active costsheet'),
    start_time: text('Beginning of the span'),
    end_time: text('End of the span, exclusive'),
    position: text('Position of the log up to which usage counts'),
    totals: z.array(marginSchema).meta({ description: 'All customers of the page together' }),
    plans: z
      .array(
        z
          .object({
            plan_id: textOrNull('The plan; null: of none, or of several that cannot be told apart'),
            ...marginShape,
          })
          .meta({ id: 'PlanMargin' }),
      )
      .meta({ description: 'The same by plan' }),
    features: z
      .array(
        z
          .object({
            meter_id: textOrNull(
              'The meter; null: whatever no meter counts, such as fixed charges',
            ),
            feature_ids: z.array(z.string()).meta({ description: 'The features of the meter' }),
            ...marginShape,
          })
          .meta({ id: 'FeatureMargin' }),
      )
      .meta({ description: 'The same by meter, and so by feature' }),
    fixed_price_ids: z.array(z.string()).meta({
      description: 'Fixed prices of the costsheet: they are costs of no customer, and left out',
    }),
  })
  .meta({ id: 'CostAnalytics' });
export type CostAnalytics = z.output<typeof costAnalyticsSchema>;
