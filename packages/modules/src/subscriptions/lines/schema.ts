import {
  decimalPlaces,
  instantSchema,
  positiveDecimalSchema,
  referenceSchema,
  withConditions,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { overrideFiguresShape } from '../../offers/index.ts';
import { lineCommitmentShape } from '../commitments/schema.ts';
import {
  idSchema,
  lineItemSchema,
  orderedLineConditions,
  orderedLineShape,
  pairsSchema,
  settlementSumSchema,
} from '../schema.ts';
import { prorationBehaviorSchema } from '../values.ts';

const prorationSchema = prorationBehaviorSchema.nullish();

/** Body of POST /subscriptions/{id}/lineitems. */
export const addLineItemSchema = withConditions(
  z.object({
    ...orderedLineShape,
    subscription_phase_id: idSchema,
    proration_behavior: prorationSchema.meta({ description: 'Default: as the subscription' }),
  }),
  orderedLineConditions,
).meta({ id: 'AddSubscriptionLineItem' });
export type AddLineItem = z.output<typeof addLineItemSchema>;

const updateShape = {
  ...overrideFiguresShape,
  ...lineCommitmentShape,
  effective_from: instantSchema.nullish().meta({ description: 'Default: now' }),
  metadata: pairsSchema,
  proration_behavior: prorationSchema.meta({ description: 'Default: as the subscription' }),
} as const;

/** Body of PUT /subscriptions/lineitems/{id}: figures make a new line, `metadata` is edited in place. */
export const updateLineItemSchema = z
  .object(updateShape)
  .meta({ id: 'UpdateSubscriptionLineItem' });
export type UpdateLineItem = z.output<typeof updateLineItemSchema>;

/** The same within a modification, which names the line. */
export const updateLineParamsSchema = z
  .object({ id: referenceSchema('subs_line'), ...updateShape })
  .meta({ id: 'UpdateLineParams' });

const endShape = {
  effective_from: instantSchema.nullish().meta({ description: 'Default: now' }),
  proration_behavior: prorationSchema.meta({ description: 'Default: none' }),
} as const;

/** Body of DELETE /subscriptions/lineitems/{id}. */
export const endLineItemSchema = z.object(endShape).meta({ id: 'EndSubscriptionLineItem' });
export type EndLineItem = z.output<typeof endLineItemSchema>;

/** The same within a modification, which names the line. */
export const removeLineParamsSchema = z
  .object({ id: referenceSchema('subs_line'), ...endShape })
  .meta({ id: 'RemoveLineParams' });

/** Other quantities of lines. */
export const quantityChangeParamsSchema = z
  .object({
    line_items: z
      .array(
        z.object({
          id: referenceSchema('subs_line'),
          quantity: positiveDecimalSchema(decimalPlaces.quantity),
          effective_date: instantSchema.nullish().meta({ description: 'Default: now' }),
        }),
      )
      .min(1)
      .max(100),
  })
  .meta({ id: 'QuantityChangeParams' });
export type QuantityChangeParams = z.output<typeof quantityChangeParamsSchema>;

/** A line with what its change charges and credits (D66). */
export const settledLineItemSchema = lineItemSchema
  .extend({ settlement: settlementSumSchema })
  .meta({ id: 'SettledLineItem' });
