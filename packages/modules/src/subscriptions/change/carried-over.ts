import { z } from 'zod';

/** The relation of what a plan costs to what the one before it cost. */
export const changeTypeSchema = z.enum(['upgrade', 'downgrade', 'lateral']);

/** Something of a subscription that is taken along when its plan changes, or is not, and why (D66). */
export const carriedOverSchema = z
  .object({
    kind: z.enum([
      'quantity',
      'price',
      'line',
      'commitment',
      'addon',
      'credit_grant',
      'entitlement',
      'cancellation',
      'pause',
      'phase',
      'trial',
      'tax',
      'coupon',
    ]),
    id: z.string(),
    carried: z.boolean(),
    reason: z.enum([
      'same_terms',
      'no_counterpart',
      'below_minimum',
      'of_old_plan',
      'charged_once',
      'other_rhythm',
      'ends_with_plan',
    ]),
  })
  .meta({ id: 'CarriedOver' });
export type CarriedOver = z.output<typeof carriedOverSchema>;
