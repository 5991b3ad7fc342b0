import {
  type DecimalText,
  decimal,
  type FieldProblem,
  Problem,
  textOf,
  zero,
  zeroText,
} from '@counterfoil/kernel';
import type { Tier } from './terms.ts';

/** A tier as the records and requests of prices write it. Amounts are canonical decimals. */
export interface TierFields {
  /** Absent or null: open. */
  readonly up_to?: number | null | undefined;
  readonly unit_amount: string;
  readonly flat_amount?: string | null | undefined;
}

export const maximumTiers = 100;

/** Several invalid values of one request: 400 with a JSON pointer to each. */
export function invalidFields(problems: readonly FieldProblem[]): Problem {
  const [first, ...more] = problems;
  const what = `${first?.pointer.slice(1) || 'request'}: ${first?.message}`;
  const rest = more.length === 0 ? '' : ` (and ${more.length} more, see errors)`;
  return new Problem('validation_error', `${what}${rest}`, { errors: problems });
}

/** Returns what is wrong with an amount of a price; empty when nothing is. */
export const amountProblems = (amount: string, pointer: string): readonly FieldProblem[] =>
  decimal(amount).cmp(zero) < 0 ? [{ pointer, message: 'must not be negative' }] : [];

/**
 * Refuses tiers that leave open what a quantity costs: at least one, at most 100; every bound positive,
 * whole and above the one before; only the last may be open; no negative amount (D31). The last
 * tier may have a bound: its rate goes on above it.
 *
 * @param pointer JSON pointer to the tiers in the request
 * @throws a Problem that names every wrong field
 */
export function validateTiers(tiers: readonly TierFields[], pointer: string): void {
  const problems = [
    ...countProblems(tiers, pointer),
    ...tiers.flatMap((tier, index) => [
      ...boundProblems(tiers, index, `${pointer}/${index}/up_to`),
      ...amountProblems(tier.unit_amount, `${pointer}/${index}/unit_amount`),
      ...amountProblems(tier.flat_amount ?? '0', `${pointer}/${index}/flat_amount`),
    ]),
  ];
  if (problems.length > 0) throw invalidFields(problems);
}

/** The tiers that fields describe. They must have passed `validateTiers`. */
export const tiersOf = (tiers: readonly TierFields[]): readonly Tier[] =>
  tiers.map(({ up_to, unit_amount, flat_amount }) => ({
    up_to: typeof up_to === 'number' ? canonical(String(up_to)) : null,
    unit_amount: canonical(unit_amount),
    flat_amount: flat_amount ? canonical(flat_amount) : zeroText,
  }));

/** A decimal that a record holds, in canonical form. */
export const canonical = (text: string): DecimalText => textOf(decimal(text));

function countProblems(tiers: readonly TierFields[], pointer: string): readonly FieldProblem[] {
  if (tiers.length === 0) return [{ pointer, message: 'must have at least one tier' }];
  if (tiers.length <= maximumTiers) return [];
  return [{ pointer, message: `must have at most ${maximumTiers} tiers` }];
}

function boundProblems(
  tiers: readonly TierFields[],
  index: number,
  pointer: string,
): readonly FieldProblem[] {
  const bound = tiers[index]?.up_to ?? null;
  if (bound === null) {
    if (index === tiers.length - 1) return [];
    return [{ pointer, message: 'is required: only the last tier may be open' }];
  }
  if (!Number.isSafeInteger(bound) || bound <= 0) {
    return [{ pointer, message: 'must be a whole number greater than zero' }];
  }
  const before = tiers[index - 1]?.up_to ?? 0;
  if (bound > before) return [];
  return [{ pointer, message: `must be greater than ${before}, the bound of the tier before` }];
}
