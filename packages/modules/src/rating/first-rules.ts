import {
  type Currency,
  type DecimalText,
  decimal,
  invariant,
  type Span,
} from '@counterfoil/kernel';
import {
  type ExactCost,
  exactCost,
  exactCostOfBuckets,
  type RoundedAmount,
  roundedAmount,
} from '../pricing/index.ts';
import { type CommitmentSplit, committedAmount, splitByCommitment } from './commitment.ts';
import { assertUsageOf, billableQuantity, chargeable, type QuantityStep } from './quantity.ts';
import type { FixedLine, LineCommitment, RatingRequest, UsageLine } from './request.ts';
import { chargeWindows, type WindowedCharge } from './windowed-commitment.ts';

/** The exact charge of a line of usage. */
export type UsageCharge =
  | { readonly kind: 'plain'; readonly cost: ExactCost }
  | { readonly kind: 'committed'; readonly cost: ExactCost; readonly commitment: CommitmentSplit }
  | ({ readonly kind: 'windowed' } & WindowedCharge);

interface CommonExplanation {
  readonly currency: Currency;
  readonly period: Span;
  /** The exact charge as money. */
  readonly total: RoundedAmount;
}

/** Every step to the amount of a line that does not depend on usage. */
export interface FixedExplanation extends CommonExplanation {
  readonly kind: 'fixed';
  readonly charge: { readonly kind: 'plain'; readonly cost: ExactCost };
}

/** Every step to the amount of a line of usage. */
export interface UsageExplanation extends CommonExplanation {
  readonly kind: 'usage';
  readonly quantity: QuantityStep;
  readonly charge: UsageCharge;
}

export type LineExplanation = FixedExplanation | UsageExplanation;

/** The first rules of rating. Where they are changed, that is a new version beside them: these have made invoices. */
export const explainByFirstRules = (request: RatingRequest): LineExplanation =>
  request.kind === 'fixed' ? explainFixed(request) : explainUsage(request);

function explainFixed({ currency, terms, period, quantity }: FixedLine): FixedExplanation {
  const cost = exactCost(terms, quantity, currency);
  const total = roundedAmount(decimal(cost.unrounded_amount), currency);
  return { kind: 'fixed', currency, period, charge: { kind: 'plain', cost }, total };
}

function explainUsage(line: UsageLine): UsageExplanation {
  const { currency, period } = line;
  assertUsageOf(period, line.usage);
  const quantity = billableQuantity(line.usage, line.allowance);
  const charge = chargeOf(line, quantity);
  const total = roundedAmount(decimal(exactAmount(charge)), currency);
  return { kind: 'usage', currency, period, quantity, charge, total };
}

function chargeOf(line: UsageLine, quantity: QuantityStep): UsageCharge {
  const { commitment } = line;
  if (commitment?.kind === 'windowed')
    return { kind: 'windowed', ...windowedCharge(line, commitment) };
  const cost = costOf(line, quantity);
  if (commitment === null) return { kind: 'plain', cost };
  const split = splitByCommitment(decimal(cost.unrounded_amount), {
    committed: committedAmount(commitment.terms, line.terms, line.currency),
    prior: decimal(commitment.prior),
    overage_factor: commitment.terms.overage_factor,
    trues_up: commitment.terms.true_up && commitment.closes_term,
  });
  return { kind: 'committed', cost, commitment: split };
}

/** Buckets are priced each on its own (E 2.3); what an allowance leaves of them is one quantity (E 8.4). */
function costOf({ terms, usage, currency }: UsageLine, { allowance, billable }: QuantityStep) {
  if (usage.kind === 'windows' || allowance !== null) return exactCost(terms, billable, currency);
  const quantities = usage.buckets.map((bucket) => chargeable(bucket.quantity));
  return exactCostOfBuckets(terms, quantities, currency);
}

function windowedCharge(
  { usage, allowance, terms, period, currency }: UsageLine,
  commitment: Extract<LineCommitment, { readonly kind: 'windowed' }>,
): WindowedCharge {
  invariant(usage.kind === 'buckets', 'a commitment for each window needs a bucketed meter');
  invariant(allowance === null, 'a commitment for each window goes with no allowance');
  const { rhythm, buckets } = usage;
  return chargeWindows(buckets, commitment, { period, rhythm, terms, currency });
}

function exactAmount(charge: UsageCharge): DecimalText {
  switch (charge.kind) {
    case 'plain':
      return charge.cost.unrounded_amount;
    case 'committed':
      return charge.commitment.amount;
    case 'windowed':
      return charge.amount;
  }
}
