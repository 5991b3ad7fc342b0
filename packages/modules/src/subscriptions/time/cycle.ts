import {
  type Cadence,
  calendarAnchor,
  type Instant,
  type Period,
  type PeriodUnit,
  periodAt,
  periodBoundary,
  type Span,
  wholePeriod,
} from '@counterfoil/kernel';
import type { BillingCycle } from '../values.ts';

/**
 * The rhythm of the periods of a subscription, from an instant on. The end of a trial or of a pause and a change to
 * other periods begin a new one; the numbers of periods go on (ADR 41).
 */
export interface Cycle {
  readonly anchor: Instant;
  readonly unit: PeriodUnit;
  readonly count: number;
  /** The instant at which its first period begins. */
  readonly start: Instant;
  /** The number of its first period. */
  readonly first_index: number;
  /**
   * Set where the first period ends at an instant that was known before, and not at the return of the anchor: after a pause
   * in it, or where it is the rest of a period of another subscription.
   */
  readonly first?: KnownPeriod | undefined;
}

/** A first period whose end is known. */
export interface KnownPeriod {
  /** A return of the anchor: all later boundaries are counted from it. */
  readonly end: Instant;
  /** The time that a price for it pays for. */
  readonly whole: Span;
}

/** The part of a subscription that its periods follow from. */
export interface Periodic {
  readonly cycle: Cycle;
  readonly timezone: string;
  /** Everything is cut here (D63); null: without end. */
  readonly end_date: Instant | null;
}

/** The cadence of a cycle in a zone. */
export const cadenceOf = ({ cycle, timezone }: Pick<Periodic, 'cycle' | 'timezone'>): Cadence => ({
  anchor: cycle.anchor,
  unit: cycle.unit,
  count: cycle.count,
  zone: timezone,
});

/** The period with a number in the running cycle, cut at the end of the subscription (D63). */
export function periodOf(periodic: Periodic, index: number): Period {
  const nth = index - periodic.cycle.first_index;
  const end = cutEnd(boundaryOf(periodic, nth + 1), periodic.end_date);
  return { index, start: boundaryOf(periodic, nth), end };
}

/** The beginning of the nth period of a cycle. */
function boundaryOf(periodic: Pick<Periodic, 'cycle' | 'timezone'>, nth: number): Instant {
  const { start, first } = periodic.cycle;
  const cadence = cadenceOf(periodic);
  return first === undefined || nth === 0
    ? periodBoundary(cadence, start, nth)
    : periodBoundary(cadence, first.end, nth - 1);
}

/** The period of the running cycle that an instant lies in, which is not before it; cut at the end of the subscription. */
export const periodContaining = (periodic: Periodic, at: Instant): Period =>
  periodOf(
    periodic,
    periodic.cycle.first_index + periodAt(cadenceOf(periodic), periodic.cycle.start, at).index,
  );

/** The number of the period of the running cycle that an instant lies in; that of its first for any before. */
export const periodNumberAt = (periodic: Periodic, at: Instant): number =>
  at < periodic.cycle.start ? periodic.cycle.first_index : periodContaining(periodic, at).index;

/** The time that a price for one period pays for, of which a short first or last period is a part. */
export function wholePeriodOf(periodic: Periodic, index: number): Span {
  const { start, first_index, first } = periodic.cycle;
  const nth = index - first_index;
  if (first === undefined) return wholePeriod(cadenceOf(periodic), start, nth);
  return nth === 0 ? first.whole : wholePeriod(cadenceOf(periodic), first.end, nth - 1);
}

const cutEnd = (end: Instant, last: Instant | null): Instant =>
  last !== null && last < end ? last : end;

/**
 * The anchor of periods that begin at an instant: the one that is asked for, else the instant itself, or the next
 * beginning of a calendar unit (E 9.1).
 */
export function anchorOf(
  start: Instant,
  billingCycle: BillingCycle,
  { unit, zone, asked }: { unit: PeriodUnit; zone: string; asked: Instant | null },
): Instant {
  if (billingCycle === 'calendar') return calendarAnchor(start, unit, zone);
  return asked ?? start;
}

/** The instant so many calendar days after another, at the same clock time in the zone (E 10.4). */
export const daysAfter = (start: Instant, days: number, zone: string): Instant =>
  periodBoundary({ anchor: start, unit: 'DAILY', count: days, zone }, start, 1);
