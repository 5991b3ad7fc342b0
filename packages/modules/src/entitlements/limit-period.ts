import {
  type Instant,
  invariant,
  lastInstant,
  laterOf,
  periodAt,
  type Span,
} from '@counterfoil/kernel';
import type { MeteredEntitlement } from './aggregate-entitlements.ts';
import type { GrantedEntitlement, GrantRhythm, ResetPeriod } from './granted-entitlement.ts';

/** The period of a limit; without end where it never starts over. */
export interface LimitPeriod {
  readonly start: Instant;
  readonly end: Instant | null;
}

/**
 * The period of a limit that runs at an instant, counted from the anchor of the subscription, with its clock time and
 * zone (D36). With several subscriptions it is that of the oldest, and of two that began together the one with the lesser
 * id. One that never starts over began with the subscription.
 */
export function limitPeriod(
  { usage_reset_period: unit, sources }: MeteredEntitlement,
  at: Instant,
): LimitPeriod {
  const oldest = [...sources].sort(byAge)[0];
  invariant(oldest, 'a limit comes from somewhere');
  const { start, anchor, zone, billing } = oldest.rhythm;
  if (unit === null) return billing;
  if (unit === 'NEVER') return { start, end: null };
  const moment = laterOf(at, start);
  const known = lastPeriods.get(oldest.rhythm);
  if (known?.unit === unit && known.start <= moment && moment < known.end) {
    return { start: known.start, end: known.end };
  }
  const { start: from, end } = periodAt({ anchor, unit, count: 1, zone }, start, moment);
  lastPeriods.set(oldest.rhythm, { unit, start: from, end });
  return { start: from, end };
}

/** The period that was found last for a rhythm: whoever asks again does so mostly within it, and to count it is dear. */
const lastPeriods = new WeakMap<GrantRhythm, Span & { readonly unit: ResetPeriod }>();

/** A period of a limit as a span of time. */
export const spanOfLimit = ({ start, end }: LimitPeriod): Span => ({
  start,
  end: end ?? lastInstant,
});

type Aged = Pick<GrantedEntitlement, 'rhythm' | 'subscription_id'>;

/** The order of subscriptions by their beginning, and of those that began together by their ids. */
export const byAge = (left: Aged, right: Aged): number =>
  inOrder(left.rhythm.start, right.rhythm.start) ||
  inOrder(left.subscription_id, right.subscription_id);

const inOrder = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);
