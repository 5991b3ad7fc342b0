import {
  type Decimal,
  type DecimalText,
  decimal,
  type Instant,
  textOf,
  zero,
} from '@counterfoil/kernel';
import type { LimitPeriod, MeteredEntitlement } from '../entitlements/index.ts';
import type { Aggregation, AggregationType } from '../meters/index.ts';
import type { CheckReason, EntitlementCheck } from './schema.ts';

/** True where a use adds to what was used; the others are levels, which a use replaces. */
const addsUp: Readonly<Record<AggregationType, boolean>> = {
  COUNT: true,
  SUM: true,
  SUM_WITH_MULTIPLIER: true,
  COUNT_UNIQUE: true,
  AVG: false,
  MAX: false,
  LATEST: false,
  WEIGHTED_SUM: false,
};

/** The use that a quantity of an event is to a meter. */
export const useOf = ({ type, multiplier }: Aggregation, quantity: Decimal): Decimal =>
  type === 'SUM_WITH_MULTIPLIER' && multiplier !== null
    ? quantity.times(decimal(String(multiplier)))
    : quantity;

/** The usage with a further use; of a level the greater of the two. */
const usedWith = (type: AggregationType, used: Decimal, use: Decimal): Decimal => {
  if (addsUp[type]) return used.plus(use);
  return used.gte(use) ? used : use;
};

/** The limit of a metered feature, what was used of it, and what is wanted. */
export interface Measured {
  readonly entitlement: MeteredEntitlement;
  readonly period: LimitPeriod;
  readonly type: AggregationType;
  readonly used: Decimal;
  /** The use that is wanted. */
  readonly use: Decimal;
  readonly position: string;
}

/** The answer to whether a use is within a limit (D52). */
export function measuredAnswer(measured: Measured): EntitlementCheck {
  const { entitlement, period, type, used, use, position } = measured;
  const { usage_limit, is_soft_limit } = entitlement;
  const common = { used: textOf(used), resets_at: period.end, position };
  if (usage_limit === null) {
    return { allowed: true, reason: 'unlimited', limit: null, remaining: null, ...common };
  }
  const limit = decimal(String(usage_limit));
  const isWithin = usedWith(type, used, use).lte(limit);
  const beyond: CheckReason = is_soft_limit ? 'soft_limit_exceeded' : 'limit_reached';
  return {
    allowed: isWithin || is_soft_limit,
    reason: isWithin ? 'within_limit' : beyond,
    limit: textOf(limit),
    remaining: remainingOf(limit, used),
    ...common,
  };
}

/** The rest of a limit, never below zero. */
export const remainingOf = (limit: Decimal, used: Decimal): DecimalText =>
  textOf(used.gte(limit) ? zero : limit.minus(used));

/** The figures of a limit as the log or a refusal has them. */
interface Figures {
  readonly limit: DecimalText;
  readonly used: DecimalText;
  readonly resetsAt: Instant | null;
  readonly position: string;
}

/** The answer to a use within a hard limit that was let through, or refused. */
export const reservedAnswer = (
  reason: 'within_limit' | 'limit_reached',
  { limit, used, resetsAt, position }: Figures,
): EntitlementCheck => ({
  allowed: reason === 'within_limit',
  reason,
  limit,
  used,
  remaining: remainingOf(decimal(limit), decimal(used)),
  resets_at: resetsAt,
  position,
});

/** An answer without any figure. */
export const plainAnswer = (
  allowed: boolean,
  reason: CheckReason,
  known: Partial<EntitlementCheck> = {},
): EntitlementCheck => ({
  allowed,
  reason,
  limit: null,
  used: null,
  remaining: null,
  resets_at: null,
  position: null,
  ...known,
});
