import {
  type Currency,
  type Decimal,
  type DecimalText,
  decimal,
  invariant,
  smaller,
  textOf,
  zero,
} from '@counterfoil/kernel';
import { exactCost, type PriceTerms } from '../pricing/index.ts';
import type { CommitmentTerms } from './request.ts';
import { notBelowZero } from './sum.ts';

/** A commitment against what was used, all exact: `amount = utilized + overage + true_up`. */
export interface CommitmentSplit {
  /** The amount that is paid in any case, over the whole term. */
  readonly committed: DecimalText;
  /** Used of it by earlier periods of the term. */
  readonly prior: DecimalText;
  /** Used now, before any factor. */
  readonly used: DecimalText;
  /** Part of it within what was left of the commitment. */
  readonly utilized: DecimalText;
  /** Part of it above: `used − utilized`. */
  readonly overage_base: DecimalText;
  readonly overage_factor: DecimalText;
  /** `overage_base × overage_factor`. */
  readonly overage: DecimalText;
  /** The unused rest of the commitment, where that is charged. */
  readonly true_up: DecimalText;
  readonly amount: DecimalText;
}

/** A commitment in money. */
export interface Commitment {
  readonly committed: Decimal;
  readonly prior: Decimal;
  readonly overage_factor: DecimalText;
  /** True where what is left is charged now. */
  readonly trues_up: boolean;
}

/**
 * Splits what was used by a commitment (E 14.1, 14.3): within what is left of it at its price, above it times the factor,
 * and what is left in the end if it is trued up. The split is by money, and the same in the first, in a later and in
 * the last period of a term.
 */
export function splitByCommitment(used: Decimal, commitment: Commitment): CommitmentSplit {
  const { committed, prior, overage_factor, trues_up } = commitment;
  invariant(decimal(overage_factor).cmp(decimal('1')) >= 0, 'an overage factor is at least 1');
  const left = notBelowZero(committed.minus(prior));
  const utilized = smaller(used, left);
  const overageBase = used.minus(utilized);
  const overage = overageBase.times(decimal(overage_factor));
  const trueUp = trues_up ? left.minus(utilized) : zero;
  return {
    committed: textOf(committed),
    prior: textOf(prior),
    used: textOf(used),
    utilized: textOf(utilized),
    overage_base: textOf(overageBase),
    overage_factor,
    overage: textOf(overage),
    true_up: textOf(trueUp),
    amount: textOf(utilized.plus(overage).plus(trueUp)),
  };
}

/** The amount of a commitment: given, or what its quantity costs under a price, tiers and packages included. */
export function committedAmount(
  { committed }: CommitmentTerms,
  price: PriceTerms,
  currency: Currency,
): Decimal {
  if (committed.kind === 'amount') return decimal(committed.amount);
  return decimal(exactCost(price, committed.quantity, currency).unrounded_amount);
}
