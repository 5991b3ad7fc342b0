import { Temporal } from 'temporal-polyfill';
import { type Instant, millisecondsOf } from './instant.ts';

/** An instant as a calendar and a clock in a zone show it. */
export const zoned = (at: Instant, zone: string): Temporal.ZonedDateTime =>
  Temporal.Instant.fromEpochMilliseconds(millisecondsOf(at)).toZonedDateTimeISO(zone);

/**
 * Milliseconds since 1970 at which a zone's clock shows a time on a day. Clock times that the zone skips or repeats
 * resolve as Temporal's `compatible` (D63).
 */
export const millisecondsAt = (
  day: Temporal.PlainDate,
  plainTime: Temporal.PlainTime,
  timeZone: string,
): number => day.toZonedDateTime({ timeZone, plainTime }).epochMilliseconds;

export const midnight: Temporal.PlainTime = new Temporal.PlainTime();

/** Minutes since midnight that a zone's clock shows at an instant. */
export function minuteOfDay(at: Instant, zone: string): number {
  const { hour, minute } = zoned(at, zone);
  return hour * 60 + minute;
}

/** The day that a zone's calendar shows at an instant. */
export function dayIn(
  at: Instant,
  zone: string,
): { readonly year: number; readonly month: number; readonly day: number } {
  const { year, month, day } = zoned(at, zone);
  return { year, month, day };
}
