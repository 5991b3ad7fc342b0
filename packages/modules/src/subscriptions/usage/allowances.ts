import { type DecimalText, decimal, type PeriodUnit } from '@counterfoil/kernel';
import type { MeteredEntitlement } from '../../entitlements/index.ts';
import type { Allowance } from '../../rating/index.ts';
import type { Cycle } from '../time/cycle.ts';

/** Mean days of a period. */
const daysOf: Readonly<Record<PeriodUnit, number>> = {
  DAILY: 1,
  WEEKLY: 7,
  MONTHLY: 30,
  QUARTERLY: 91,
  HALF_YEARLY: 182,
  ANNUAL: 365,
};

/** An allowance of a meter, and the feature whose entitlement it is. */
export interface FeatureAllowance extends Allowance {
  readonly feature_id: string;
}

/** The usage that an entitlement makes free. */
export const allowanceBy = ({
  feature_id,
  usage_limit,
  usage_reset_period,
}: MeteredEntitlement): FeatureAllowance => ({
  feature_id,
  limit: usage_limit === null ? null : (String(usage_limit) as DecimalText),
  resets: usage_reset_period,
});

/**
 * The allowance that counts for the lines of a meter that several features are about. A use of the meter is one use of each of
 * them, so that their limits do not add up: the most generous holds, whatever was used, so that a stretch of time costs the same
 * in parts. One without limit comes before any, then the greatest for the same time, and one that never starts over last.
 */
export const mostGenerous = (
  allowances: readonly FeatureAllowance[],
  cycle: Pick<Cycle, 'unit' | 'count'>,
): FeatureAllowance | null =>
  allowances.reduce<FeatureAllowance | null>(
    (best, each) => (best === null || isBefore(each, best, cycle) ? each : best),
    null,
  );

function isBefore(
  one: FeatureAllowance,
  other: FeatureAllowance,
  cycle: Pick<Cycle, 'unit' | 'count'>,
): boolean {
  const isFirst = one.feature_id < other.feature_id;
  if (one.limit === null || other.limit === null) {
    return one.limit === other.limit ? isFirst : one.limit === null;
  }
  const [ofOne, ofOther] = [lengthOf(one, cycle), lengthOf(other, cycle)];
  if (ofOne === null || ofOther === null) {
    if (ofOne !== ofOther) return ofOne !== null;
    const order = decimal(one.limit).cmp(decimal(other.limit));
    return order === 0 ? isFirst : order > 0;
  }
  // Compared without a division: one.limit ÷ its days against other.limit ÷ its own.
  const left = decimal(one.limit).times(decimal(String(ofOther)));
  const order = left.cmp(decimal(other.limit).times(decimal(String(ofOne))));
  return order === 0 ? isFirst : order > 0;
}

/** The days after which an allowance starts over; null: never. */
const lengthOf = (
  { resets }: Allowance,
  { unit, count }: Pick<Cycle, 'unit' | 'count'>,
): number | null => {
  if (resets === 'NEVER') return null;
  return resets === null ? daysOf[unit] * count : daysOf[resets];
};
