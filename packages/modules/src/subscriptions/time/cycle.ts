import {
  type Cadence,
  calendarAnchor,
  type Instant,
  type Period,
  type PeriodUnit,
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
  const { start, first_index } = periodic.cycle;
  const cadence = cadenceOf(periodic);
  const nth = index - first_index;
  const end = cutEnd(periodBoundary(cadence, start, nth + 1), periodic.end_date);
  return { index, start: periodBoundary(cadence, start, nth), end };
}

/** The time that a price for one period pays for, of which a short first or last period is a part. */
export const wholePeriodOf = (periodic: Periodic, index: number): Span =>
  wholePeriod(cadenceOf(periodic), periodic.cycle.start, index - periodic.cycle.first_index);

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
