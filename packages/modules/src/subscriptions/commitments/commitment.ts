import type { DecimalText } from '@counterfoil/kernel';
import { z } from 'zod';
import { recurringPeriodSchema } from '../values.ts';

const figure = z.string().transform((text) => text as DecimalText);

const termsShape = {
  /** At least 1: usage above the commitment costs so many times its price. */
  overage_factor: figure,
  /** True where the unused rest is charged too. */
  true_up: z.boolean(),
  /** Time that it is committed for; null: each period has it anew. */
  duration: recurringPeriodSchema.nullable(),
} as const;

/** The commitment of a line of usage, as its events carry it (E 14.1, 14.4). */
export const lineCommitmentData = z.object({
  committed: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('amount'), amount: figure }),
    /** The amount is the cost of so much under the price of the line. */
    z.object({ kind: z.literal('quantity'), quantity: figure }),
  ]),
  /** True where it holds for each bucket of the meter on its own. */
  windowed: z.boolean(),
  ...termsShape,
});
export type LineCommitmentData = z.output<typeof lineCommitmentData>;

/** The commitment of all usage of a subscription together (E 14.2, 14.3). */
export const subscriptionCommitmentData = z.object({
  /** Money: it has the digits of the currency. */
  amount: figure,
  ...termsShape,
});
export type SubscriptionCommitmentData = z.output<typeof subscriptionCommitmentData>;
