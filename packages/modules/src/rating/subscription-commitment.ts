import {
  type Currency,
  type DecimalText,
  decimal,
  digitsFault,
  invariant,
  spread,
  textOf,
  zero,
} from '@counterfoil/kernel';
import { type RoundedAmount, roundedAmount } from '../pricing/index.ts';
import { type CommitmentSplit, splitByCommitment } from './commitment.ts';
import { notBelowZero, sumOf } from './sum.ts';

/** A line of usage that a commitment of the whole subscription covers, as it was rated. */
export interface CoveredLine {
  /** The line of the subscription. */
  readonly line_id: string;
  /** Rounded, as it would be charged without the commitment. */
  readonly amount: DecimalText;
}

/** Everything that the charge of a commitment depends on. All amounts have the digits of the currency. */
export interface SubscriptionCommitment {
  readonly currency: Currency;
  readonly committed: DecimalText;
  /** At least 1. */
  readonly overage_factor: DecimalText;
  /** The sum of the lines in earlier periods of the term, before any factor; "0" in the first. */
  readonly prior: DecimalText;
  /** True where what is left is charged, and the period is the last of the term. */
  readonly trues_up: boolean;
  readonly lines: readonly CoveredLine[];
}

/** The share of one line: `amount = utilized + overage_base`, and `utilized + overage` is charged for it. */
export interface LineShare extends CoveredLine {
  readonly utilized: DecimalText;
  readonly overage_base: DecimalText;
  /** The share of the overage that is charged. */
  readonly overage: DecimalText;
}

/** A commitment as it was charged; `charged = utilized + overage + true_up`, all of them money. */
export interface CommitmentExplanation {
  readonly currency: Currency;
  /** Exact. */
  readonly split: CommitmentSplit;
  readonly lines: readonly LineShare[];
  readonly utilized: DecimalText;
  /** The overage of the term so far, and what of it earlier periods have charged. */
  readonly term_overage: { readonly before: RoundedAmount; readonly through: RoundedAmount };
  /** `term_overage.through.amount − term_overage.before.amount`. */
  readonly overage: DecimalText;
  readonly true_up: DecimalText;
  readonly charged: DecimalText;
}

/**
 * Charges a commitment of a subscription (E 14.2, 14.3). The lines' amounts together are split by money, so that their
 * order does not matter, and the parts are spread over them by largest remainder. The overage is rounded over the whole
 * term: however many periods it comes in, it adds up to what one would charge.
 */
export function explainCommitmentByFirstRules(
  commitment: SubscriptionCommitment,
): CommitmentExplanation {
  const { currency, committed, prior, overage_factor, trues_up, lines } = commitment;
  const given = [committed, prior, ...lines.map(({ amount }) => amount)];
  for (const amount of given) {
    const isMoney = digitsFault(amount, currency) === null && decimal(amount).cmp(zero) >= 0;
    invariant(isMoney, `a commitment in ${currency} has no amount ${amount}`);
  }
  const split = splitByCommitment(sumOf(lines.map(({ amount }) => amount)), {
    committed: decimal(committed),
    prior: decimal(prior),
    overage_factor,
    trues_up,
  });
  const before = notBelowZero(decimal(prior).minus(decimal(committed)));
  const through = before.plus(decimal(split.overage_base));
  const overageOf = (base: typeof before) =>
    roundedAmount(base.times(decimal(overage_factor)), currency);
  const term_overage = { before: overageOf(before), through: overageOf(through) };
  const overage = textOf(
    decimal(term_overage.through.amount).minus(decimal(term_overage.before.amount)),
  );
  return {
    currency,
    split,
    lines: sharesOf(lines, split.utilized, overage, currency),
    utilized: split.utilized,
    term_overage,
    overage,
    true_up: split.true_up,
    charged: textOf(sumOf([split.utilized, overage, split.true_up])),
  };
}

function sharesOf(
  lines: readonly CoveredLine[],
  utilized: DecimalText,
  overage: DecimalText,
  currency: Currency,
): readonly LineShare[] {
  const amounts = lines.map(({ amount }) => decimal(amount));
  const within = spread(utilized, amounts, currency);
  const above = amounts.map((amount, index) => amount.minus(decimal(within[index] ?? '0')));
  const overages = spread(overage, above, currency);
  return lines.map((line, index) => ({
    ...line,
    utilized: within[index] ?? textOf(zero),
    overage_base: textOf(above[index] ?? zero),
    overage: overages[index] ?? textOf(zero),
  }));
}
