import { pageSchema, pageShape } from '@counterfoil/engine/define';
import { currencySchema, instantSchema, withConditions } from '@counterfoil/kernel';
import { z } from 'zod';

/** Customers of one answer: the usage of each is rated anew. */
export const customersMaximum = 50;
/** Days of history at most. */
export const daysMaximum = 366;

const text = (description: string) => z.string().meta({ description });

/** Body of POST /plans/{id}/what-if (D52). */
export const whatIfSchema = withConditions(
  z.object({
    customer_ids: z
      .array(z.string().min(1).max(64))
      .min(1)
      .max(customersMaximum)
      .optional()
      .meta({ description: 'Customers whose history is priced; unknown ones are left out' }),
    subscribed_to: z
      .string()
      .min(1)
      .max(64)
      .optional()
      .meta({
        description: `Plan: those who are subscribed to it now, page by page, ${customersMaximum} at most`,
      }),
    start_time: instantSchema.meta({ description: 'Beginning of the history' }),
    end_time: instantSchema.meta({
      description: `Its end, exclusive; at most ${daysMaximum} days later`,
    }),
    currency: currencySchema.meta({ description: 'Currency of the prices' }),
    billing_period: z
      .enum(['DAILY', 'WEEKLY', 'MONTHLY', 'QUARTERLY', 'HALF_YEARLY', 'ANNUAL'])
      .default('MONTHLY')
      .meta({ description: 'Billing period under the plan' }),
    ...pageShape,
  }),
  [{ oneOf: ['customer_ids', 'subscribed_to'], says: 'give either customer_ids or subscribed_to' }],
).meta({ id: 'WhatIf' });
export type WhatIf = z.output<typeof whatIfSchema>;

const sumsShape = {
  would_be: text('What the plan would have charged, before discounts and taxes'),
  was: text('What final invoices have charged for that time, before discounts and taxes'),
  difference: text('would_be − was'),
} as const;

const pricedCustomerSchema = z
  .object({
    customer_id: text('Id of the customer'),
    fixed: text('Charges that do not depend on usage'),
    usage: text('Charges for usage, with commitments'),
    ...sumsShape,
    lines: z
      .array(
        z.object({
          display_name: text('Name of the line'),
          quantity: text('Quantity that would be charged for'),
          amount: text('Amount of all periods'),
        }),
      )
      .meta({ description: 'The lines of the plan, all periods together' }),
  })
  .meta({ id: 'WhatIfCustomer' });

/** Answer of POST /plans/{id}/what-if: a page of customers, with the sums of those. */
export const whatIfAnswerSchema = pageSchema(pricedCustomerSchema)
  .extend({
    plan_id: text('Id of the plan'),
    currency: text('Code of the currency'),
    start_time: text('Beginning of the history'),
    end_time: text('End of the history, exclusive'),
    position: text('Position of the log up to which usage counts'),
    ...sumsShape,
  })
  .meta({ id: 'WhatIfAnswer' });
export type WhatIfAnswer = z.output<typeof whatIfAnswerSchema>;
