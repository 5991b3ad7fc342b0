import { decimalPlaces, nonNegativeDecimalSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { billingPeriodSchema } from '../../offers/index.ts';
import { commitmentTypeSchema } from './committed.ts';
import { shownTimeBucketsSchema, timeBucketsSchema } from './time-buckets.ts';

const amountSchema = nonNegativeDecimalSchema(decimalPlaces.price).nullish();
const factorSchema = nonNegativeDecimalSchema(decimalPlaces.rate).nullish();

/** The members of a line of usage that say what it is committed to. */
export const lineCommitmentShape = {
  commitment_amount: amountSchema.meta({ description: '0: no commitment' }),
  commitment_quantity: amountSchema.meta({ description: 'Committed is what it costs' }),
  commitment_type: commitmentTypeSchema
    .nullish()
    .meta({ description: 'Default: that of which the figure is given' }),
  commitment_overage_factor: factorSchema.meta({ description: 'At least 1' }),
  commitment_true_up_enabled: z.boolean().nullish(),
  commitment_windowed: z
    .boolean()
    .nullish()
    .meta({ description: 'For each bucket of its meter on its own' }),
  commitment_duration: billingPeriodSchema
    .nullish()
    .meta({ description: 'Default: each period has it anew' }),
  commitment_time_buckets: timeBucketsSchema.nullish().meta({ description: 'Empty: none' }),
} as const;

const commitmentBody = z.object(lineCommitmentShape);
export type LineCommitmentBody = z.output<typeof commitmentBody>;

/** A commitment of a line of an offer, as it stands beside the others under the id of its price. */
export const lineCommitmentConfigSchema = z
  .object({
    commitment_amount: lineCommitmentShape.commitment_amount,
    commitment_quantity: lineCommitmentShape.commitment_quantity,
    commitment_type: lineCommitmentShape.commitment_type,
    overage_factor: lineCommitmentShape.commitment_overage_factor,
    enable_true_up: lineCommitmentShape.commitment_true_up_enabled,
    is_window_commitment: lineCommitmentShape.commitment_windowed,
    commitment_duration: lineCommitmentShape.commitment_duration,
    commitment_time_buckets: lineCommitmentShape.commitment_time_buckets,
  })
  .meta({ id: 'LineItemCommitment' });

/** Commitments of lines of an offer, by the ids of the prices that it is sold under. */
export const lineCommitmentsSchema = z
  .record(z.string().max(64), lineCommitmentConfigSchema)
  .nullish()
  .meta({ description: 'By price_id' });
export type LineCommitments = NonNullable<z.output<typeof lineCommitmentsSchema>>;

/** The same of a whole subscription. */
export const subscriptionCommitmentShape = {
  commitment_amount: amountSchema.meta({ description: 'Of all usage together, for a period' }),
  commitment_duration: billingPeriodSchema
    .nullish()
    .meta({ description: 'Default: each period has it anew' }),
  overage_factor: factorSchema.meta({ description: 'At least 1, which is the default' }),
  enable_true_up: z.boolean().nullish().meta({ description: 'Whether the unused rest is charged' }),
} as const;

/** The members of a line on the wire that show its commitment. */
export const shownCommitmentShape = {
  commitment_type: commitmentTypeSchema.optional(),
  commitment_amount: z.string().optional(),
  commitment_quantity: z.string().optional(),
  commitment_overage_factor: z.string().optional(),
  commitment_true_up_enabled: z.boolean(),
  commitment_windowed: z.boolean(),
  commitment_duration: billingPeriodSchema.optional(),
  commitment_time_buckets: shownTimeBucketsSchema.optional(),
} as const;
