import {
  type Cadence,
  type Instant,
  millisecondsOf,
  type PeriodUnit,
  periodAt,
  periodBoundary,
  type Span,
  shiftedBy,
} from '@counterfoil/kernel';
import { intersection } from './spans.ts';

/** The length of one period of a recurring price. */
export interface BillingPeriod {
  readonly unit: PeriodUnit;
  /** Units in one period, a whole number from 1 on. */
  readonly count: number;
}

/** The periods of a line that has longer ones than its subscription (E 11.1). */
export interface OwnCycle {
  /** The days of the boundaries after the first period are taken from it. */
  readonly anchor: Instant;
  /** The first period; the others follow it. */
  readonly first: Span;
  /** After a pause the period before the first one, which may not be closed yet. */
  readonly before?: Span;
}

const dayCounts = { DAILY: 1, WEEKLY: 7 } as const;
const monthCounts = { MONTHLY: 1, QUARTERLY: 3, HALF_YEARLY: 6, ANNUAL: 12 } as const;

/** The length of a period in days or in months, which no number of days is. */
function lengthOf({ unit, count }: BillingPeriod): string {
  return unit === 'DAILY' || unit === 'WEEKLY'
    ? `${dayCounts[unit] * count} days`
    : `${monthCounts[unit] * count} months`;
}

/** Tells whether two periods last equally long: one quarter and three months do. */
export const isSameLength = (one: BillingPeriod, other: BillingPeriod): boolean =>
  lengthOf(one) === lengthOf(other);

/**
 * The cycle of a line with longer periods than its subscription, counted from the line's start (E 11.1) or from the end
 * of a trial; null for a line that goes with the subscription.
 */
export function ownCycle(
  period: BillingPeriod | 'ONETIME',
  subscription: BillingPeriod,
  start: Instant,
  zone: string,
): OwnCycle | null {
  if (period === 'ONETIME' || isSameLength(period, subscription)) return null;
  const end = periodBoundary({ anchor: start, zone, ...period }, start, 1);
  return { anchor: start, first: { start, end } };
}

/** The own periods of a line that have a part in a stretch of time, in their order. */
export function ownPeriodsIn(
  cycle: OwnCycle,
  period: BillingPeriod,
  zone: string,
  window: Span,
): Span[] {
  const { anchor, first, before } = cycle;
  const cadence: Cadence = { anchor, zone, ...period };
  const found = [before, first].flatMap((each) =>
    each === undefined || intersection(each, window) === null ? [] : each,
  );
  if (window.end <= first.end) return found;
  const from = window.start < first.end ? first.end : window.start;
  let { index, ...next } = periodAt(cadence, first.end, from);
  while (next.start < window.end) {
    found.push(next);
    index += 1;
    next = { start: next.end, end: periodBoundary(cadence, first.end, index + 1) };
  }
  return found;
}

/** The cycle after a pause: the period that it began in is longer by its length, and all later ones are later by as much (D67). */
export function cycleAfterPause(
  cycle: OwnCycle,
  period: BillingPeriod,
  zone: string,
  pause: Span,
): OwnCycle {
  const until = { start: cycle.first.start, end: shiftedBy(pause.start, 1) };
  const [running = cycle.first, before = cycle.before] = ownPeriodsIn(
    { anchor: cycle.anchor, first: cycle.first },
    period,
    zone,
    until,
  ).reverse();
  const length = millisecondsOf(pause.end) - millisecondsOf(pause.start);
  const end = shiftedBy(running.end, length);
  return {
    anchor: end,
    first: { start: running.start, end },
    ...(before === undefined ? {} : { before }),
  };
}
