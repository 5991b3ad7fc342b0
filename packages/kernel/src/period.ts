import type { Temporal } from 'temporal-polyfill';
import { midnight, millisecondsAt, zoned } from './calendar.ts';
import { type Instant, instantOf, millisecondsOf, nearestInstant } from './instant.ts';

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
export interface Span {
  readonly start: Instant;
  readonly end: Instant;
}

/** One of the stretches that a cadence divides time into. */
export interface Period extends Span {
  /** 0 for the first. */
  readonly index: number;
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

/** The days and the clock time at which a cadence returns, in its zone. */
interface Returns {
  readonly day: Temporal.PlainDate;
  readonly clock: Temporal.PlainTime;
  readonly step: Step;
  readonly zone: string;
}

function returnsOf({ anchor, unit, zone }: Cadence): Returns {
  const at = zoned(anchor, zone);
  return { day: at.toPlainDate(), clock: at.toPlainTime(), step: steps[unit], zone };
}

/**
 * The day of the nth return, which may be negative: always counted from the anchor, so that a 31st comes back
 * after the short months.
 */
const returnDay = ({ day, step }: Returns, n: number): Temporal.PlainDate =>
  'days' in step ? day.add({ days: n * step.days }) : day.add({ months: n * step.months });

/** Milliseconds since 1970 of the nth return, which may lie beyond the years that can be written. */
const returnTime = (returns: Returns, n: number): number =>
  millisecondsAt(returnDay(returns, n), returns.clock, returns.zone);

/** The number of the last return on a day or before it. */
function lastReturn(returns: Returns, on: Temporal.PlainDate): number {
  const { day, step } = returns;
  if ('days' in step) return Math.floor(day.until(on).days / step.days);
  const months = (on.year - day.year) * 12 + on.month - day.month;
  const n = Math.floor(months / step.months);
  // Within its month the return may still be to come.
  return returnDay(returns, n).until(on).sign >= 0 ? n : n - 1;
}

/** The number of the last return at an instant or before it. */
function returnBefore(returns: Returns, instant: Instant): number {
  const n = lastReturn(returns, zoned(instant, returns.zone).toPlainDate());
  const at = millisecondsOf(instant);
  // On its day the return may still be to come. A clock that goes back over midnight shows a day again that is over.
  if (returnTime(returns, n) > at) return n - 1;
  return returnTime(returns, n + 1) <= at ? n + 1 : n;
}

/** The number of the return at which period `index` begins, from 1 on. */
function firstReturn(returns: Returns, count: number, start: Instant, index: number): number {
  const startDay = zoned(start, returns.zone).toPlainDate();
  const last = lastReturn(returns, startDay);
  const isWhole = returnDay(returns, last).equals(startDay);
  return isWhole ? last + index * count : last + 1 + (index - 1) * count;
}

/**
 * Returns where period `index` begins, for periods that begin at `start`: index 0 gives `start` itself. The first
 * period ends at the anchor's first return on a later day; a start on the day of a return begins a whole
 * period. Every further boundary is counted from there, and its day taken from the anchor (D63, E 9.2 B). Throws a
 * RangeError for an index or a count that is none, and for boundaries after the year 9999.
 */
export function periodBoundary(cadence: Cadence, start: Instant, index: number): Instant {
  if (!Number.isSafeInteger(index) || index < 0)
    throw new RangeError(`there is no period ${index}`);
  if (!Number.isSafeInteger(cadence.count) || cadence.count < 1)
    throw new RangeError(`a period has at least one unit, not ${cadence.count}`);
  if (index === 0) return start;
  const { anchor, unit, count, zone } = cadence;
  const asked = `${anchor} ${unit} ${count} ${zone} ${start} ${index}`;
  const known = boundaries.get(asked);
  if (known !== undefined) return known;
  const returns = returnsOf(cadence);
  const boundary = instantOf(returnTime(returns, firstReturn(returns, count, start, index)));
  keepBoundary(asked, boundary);
  return boundary;
}

/**
 * The boundaries that were asked for last. Each decision on a subscription asks for the same ones many times, and the
 * calendar of a zone takes longer than everything else that it does.
 */
const boundaries = new Map<string, Instant>();
const boundariesMaximum = 4_096;

function keepBoundary(asked: string, boundary: Instant): void {
  const oldest = boundaries.keys().next();
  if (boundaries.size >= boundariesMaximum && !oldest.done) boundaries.delete(oldest.value);
  boundaries.set(asked, boundary);
}

/**
 * Returns the period that an instant lies in (E 9.3), for periods that begin at `start`: the inverse of `periodBoundary`.
 * Throws a RangeError for an instant before it, and where the period ends after the year 9999.
 */
export function periodAt(cadence: Cadence, start: Instant, instant: Instant): Period {
  if (instant < start) throw new RangeError(`${instant} is before the first period`);
  const returns = returnsOf(cadence);
  const first = firstReturn(returns, cadence.count, start, 1);
  const n = returnBefore(returns, instant);
  const index = n < first ? 0 : Math.floor((n - first) / cadence.count) + 1;
  return {
    index,
    start: periodBoundary(cadence, start, index),
    end: periodBoundary(cadence, start, index + 1),
  };
}

/**
 * Returns the whole period that period `index` is, or is the end of: a short first period is the end of one that began
 * `count` units before the anchor's first return. It is what a price for a period pays for. Throws as `periodBoundary`
 * does.
 */
export function wholePeriod(cadence: Cadence, start: Instant, index: number): Span {
  const period = {
    start: periodBoundary(cadence, start, index),
    end: periodBoundary(cadence, start, index + 1),
  };
  if (index > 0) return period;
  const returns = returnsOf(cadence);
  const before = firstReturn(returns, cadence.count, start, 1) - cadence.count;
  const startDay = zoned(start, cadence.zone).toPlainDate();
  if (returnDay(returns, before).equals(startDay)) return period;
  return { start: instantOf(returnTime(returns, before)), end: period.end };
}

/**
 * Returns the anchor of calendar periods: the first beginning of such a unit, at midnight in the zone, that lies
 * on a later day than `start` (E 9.1). Weeks begin on Monday. Throws a RangeError where that is after the year 9999.
 */
export const calendarAnchor = (start: Instant, unit: PeriodUnit, zone: string): Instant =>
  instantOf(returnTime(calendarReturns(start, unit, zone), 1));

/**
 * Returns the period of the calendar in a zone that an instant lies in: days begin at midnight, weeks on Monday,
 * quarters and halves with the year (D54). At the ends of the years 1 to 9999 it is cut.
 */
export function calendarPeriod(instant: Instant, unit: PeriodUnit, zone: string): Span {
  const returns = calendarReturns(instant, unit, zone);
  const n = returnBefore(returns, instant);
  return {
    start: nearestInstant(returnTime(returns, n)),
    end: nearestInstant(returnTime(returns, n + 1)),
  };
}

/** The beginnings of a unit of the calendar, counted from the one that an instant's day lies in. */
function calendarReturns(instant: Instant, unit: PeriodUnit, zone: string): Returns {
  const day = zoned(instant, zone).toPlainDate();
  return { day: unitStart(day, unit), clock: midnight, step: steps[unit], zone };
}

function unitStart(day: Temporal.PlainDate, unit: PeriodUnit): Temporal.PlainDate {
  const step = steps[unit];
  if ('days' in step) return step.days === 1 ? day : day.subtract({ days: day.dayOfWeek - 1 });
  return day.with({ month: day.month - ((day.month - 1) % step.months), day: 1 });
}
