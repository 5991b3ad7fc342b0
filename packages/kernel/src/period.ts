import { Temporal } from 'temporal-polyfill';
import { type Instant, instantOf, millisecondsOf } from './instant.ts';

/** The units in which periods are counted. */
export const periodUnits = [
  'DAILY',
  'WEEKLY',
  'MONTHLY',
  'QUARTERLY',
  'HALF_YEARLY',
  'ANNUAL',
] as const;
export type PeriodUnit = (typeof periodUnits)[number];

/**
 * The rhythm of periods. The anchor gives the day of the month, the weekday or the day of the year, and the
 * clock time, at which periods change, as a calendar and a clock in the zone show them.
 */
export interface Cadence {
  readonly anchor: Instant;
  readonly unit: PeriodUnit;
  /** Units in one period, a whole number from 1 on. */
  readonly count: number;
  /** IANA name of a time zone. */
  readonly zone: string;
}

/** A half-open stretch of time: its start belongs to it, its end does not (D32). */
export interface Period {
  /** 0 for the first. */
  readonly index: number;
  readonly start: Instant;
  readonly end: Instant;
}

type Step = { readonly days: number } | { readonly months: number };

const steps: Readonly<Record<PeriodUnit, Step>> = {
  DAILY: { days: 1 },
  WEEKLY: { days: 7 },
  MONTHLY: { months: 1 },
  QUARTERLY: { months: 3 },
  HALF_YEARLY: { months: 6 },
  ANNUAL: { months: 12 },
};

const zoned = (instant: Instant, zone: string): Temporal.ZonedDateTime =>
  Temporal.Instant.fromEpochMilliseconds(millisecondsOf(instant)).toZonedDateTimeISO(zone);

/** Clock times that the zone skips or repeats resolve as Temporal's `compatible` (D63). */
const instantAt = (day: Temporal.PlainDate, clock: Temporal.PlainTime, zone: string): Instant =>
  instantOf(day.toZonedDateTime({ timeZone: zone, plainTime: clock }).epochMilliseconds);

/**
 * The day of the anchor's nth return, which may be negative: always counted from the anchor, so that a 31st
 * comes back after the short months.
 */
function returnDay(anchor: Temporal.PlainDate, step: Step, n: number): Temporal.PlainDate {
  return 'days' in step
    ? anchor.add({ days: n * step.days })
    : anchor.add({ months: n * step.months });
}

/** The number of the anchor's last return on a day or before it. */
function lastReturn(anchor: Temporal.PlainDate, step: Step, day: Temporal.PlainDate): number {
  const isBy = (n: number): boolean =>
    Temporal.PlainDate.compare(returnDay(anchor, step, n), day) <= 0;
  if ('days' in step) return Math.floor(anchor.until(day).days / step.days);
  const months = (day.year - anchor.year) * 12 + day.month - anchor.month;
  const n = Math.floor(months / step.months);
  // Within its month the return may still be to come.
  return isBy(n) ? n : n - 1;
}

/**
 * Returns where period `index` begins, for periods that begin at `start`: index 0 gives `start` itself. The first
 * period ends at the anchor's first return on a later day; a start on the day of a return begins a whole
 * period. Every further boundary is counted from there, and its day taken from the anchor (D63). Throws a
 * RangeError for a negative index, and for boundaries after the year 9999.
 */
export function periodBoundary(cadence: Cadence, start: Instant, index: number): Instant {
  if (!Number.isInteger(index) || index < 0) throw new RangeError(`there is no period ${index}`);
  return index === 0 ? start : returnOf(cadence, firstReturn(cadence, start, index));
}

/** The number of the anchor's return at which period `index` begins, from 1 on. */
function firstReturn({ anchor, unit, count, zone }: Cadence, start: Instant, index: number) {
  const step = steps[unit];
  const anchorDay = zoned(anchor, zone).toPlainDate();
  const startDay = zoned(start, zone).toPlainDate();
  const last = lastReturn(anchorDay, step, startDay);
  const isWhole = returnDay(anchorDay, step, last).equals(startDay);
  return isWhole ? last + index * count : last + 1 + (index - 1) * count;
}

/** The instant of the anchor's nth return. */
function returnOf({ anchor, unit, zone }: Cadence, n: number): Instant {
  const at = zoned(anchor, zone);
  return instantAt(returnDay(at.toPlainDate(), steps[unit], n), at.toPlainTime(), zone);
}

/**
 * Returns the period that an instant lies in, for periods that begin at `start`. Throws a RangeError for
 * an instant before it.
 */
export function periodAt(cadence: Cadence, start: Instant, instant: Instant): Period {
  if (instant < start) throw new RangeError(`${instant} is before the first period`);
  const first = firstReturn(cadence, start, 1);
  const { n } = returnBefore(cadence, instant);
  const index = n < first ? 0 : Math.floor((n - first) / cadence.count) + 1;
  return {
    index,
    start: periodBoundary(cadence, start, index),
    end: periodBoundary(cadence, start, index + 1),
  };
}

/** The anchor's last return at an instant or before it. */
function returnBefore(cadence: Cadence, instant: Instant): { readonly n: number } {
  const { anchor, unit, zone } = cadence;
  const day = zoned(instant, zone).toPlainDate();
  const n = lastReturn(zoned(anchor, zone).toPlainDate(), steps[unit], day);
  // On its day the return may still be to come. A zone that skips a day puts two returns at one instant.
  if (returnOf(cadence, n) > instant) return { n: n - 1 };
  return returnOf(cadence, n + 1) <= instant ? { n: n + 1 } : { n };
}

/**
 * Returns the anchor of calendar periods: the first beginning of such a unit, at midnight in the zone, that lies
 * on a later day than `start` (E 9.1). Weeks begin on Monday.
 */
export function calendarAnchor(start: Instant, unit: PeriodUnit, zone: string): Instant {
  const day = zoned(start, zone).toPlainDate();
  return instantAt(nextUnit(day, unit), new Temporal.PlainTime(), zone);
}

function nextUnit(day: Temporal.PlainDate, unit: PeriodUnit): Temporal.PlainDate {
  const step = steps[unit];
  if (unit === 'DAILY') return day.add({ days: 1 });
  if ('days' in step) return day.add({ days: step.days + 1 - day.dayOfWeek });
  const month = day.month - ((day.month - 1) % step.months);
  return day.with({ month, day: 1 }).add({ months: step.months });
}
