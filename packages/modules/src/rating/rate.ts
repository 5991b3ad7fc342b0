import type { Currency, DecimalText } from '@counterfoil/kernel';
import { z } from 'zod';
import { explainByFirstRules, type LineExplanation } from './first-rules.ts';
import type { RatingRequest } from './request.ts';
import {
  type CommitmentExplanation,
  explainCommitmentByFirstRules,
  type SubscriptionCommitment,
} from './subscription-commitment.ts';

/**
 * The rules of rating by their version. A version that has made an invoice stays as it is for ever, so that every
 * invoice can be computed again to the last digit; the golden lines hold it to that.
 */
const rules = {
  1: { line: explainByFirstRules, commitment: explainCommitmentByFirstRules },
} as const;

export type RulesVersion = keyof typeof rules;

/** A version of the rules, as records keep it. */
export const rulesVersionSchema = z.literal(1) satisfies z.ZodType<RulesVersion>;

/** The rules that new lines are rated by. */
export const currentRules: RulesVersion = 1;

/** The amount of a line, and why. */
export interface RatedLine {
  readonly currency: Currency;
  /** The quantity that is charged for, after the allowance. */
  readonly quantity: DecimalText;
  /** Money: rounded once. */
  readonly amount: DecimalText;
  readonly explanation: { readonly rules: RulesVersion } & LineExplanation;
}

/** The charge of a commitment of a subscription over its lines, and why. */
export type RatedCommitment = { readonly rules: RulesVersion } & CommitmentExplanation;

/**
 * Rates a line: what is charged for its period, with every step. Pure: the same request gives the same answer.
 *
 * @param version the rules of the invoice that is computed again; those of today for a new one
 * @throws BrokenInvariant for a request that no price, meter or commitment allows
 */
export function rate(request: RatingRequest, version: RulesVersion = currentRules): RatedLine {
  const explanation = { rules: version, ...rules[version].line(request) };
  const quantity =
    explanation.kind === 'usage'
      ? explanation.quantity.billable
      : explanation.charge.cost.billed_quantity;
  const { currency, total } = explanation;
  return { currency, quantity, amount: total.amount, explanation };
}

/**
 * Rates a commitment of a whole subscription over lines that were rated before. What is charged instead of their
 * amounts: for each its `utilized` and, apart, its `overage`, and one true-up.
 *
 * @throws BrokenInvariant for amounts that are no money
 */
export const rateCommitment = (
  commitment: SubscriptionCommitment,
  version: RulesVersion = currentRules,
): RatedCommitment => ({ rules: version, ...rules[version].commitment(commitment) });
