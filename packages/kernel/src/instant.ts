import { z } from 'zod';
import type { Brand } from './brand.ts';

/** A point in time: RFC 3339, UTC, milliseconds, so that text order is time order. */
export type Instant = Brand<string, 'Instant'>;

/** The one that was written last: whoever asks for the present asks many times within a millisecond. */
let written = { milliseconds: Number.NaN, instant: '' as Instant };

/** The instant of a number of milliseconds since 1970. Throws a RangeError outside the years 1 to 9999. */
export function instantOf(milliseconds: number): Instant {
  if (milliseconds === written.milliseconds) return written.instant;
  if (milliseconds < firstMillisecond || milliseconds > lastMillisecond)
    throw new RangeError('an instant lies in the years 1 to 9999');
  written = { milliseconds, instant: new Date(milliseconds).toISOString() as Instant };
  return written.instant;
}

/** Milliseconds since 1970 of an instant. */
export const millisecondsOf = (instant: Instant): number => Date.parse(instant);

/** The later of two instants. */
export const laterOf = (left: Instant, right: Instant): Instant => (left > right ? left : right);

/** The earlier of two instants. */
export const earlierOf = (left: Instant, right: Instant): Instant => (left < right ? left : right);

/**
 * RFC 3339 in, any offset; an `Instant` out. Refuses dates that no calendar has, and instants outside
 * the years 1 to 9999 in UTC.
 */
export const instantSchema = z
  .string()
  .max(40)
  .refine((text) => readInstant(text) !== null, 'must be an RFC 3339 date-time')
  .transform((text) => readInstant(text) as Instant)
  .meta({ format: 'date-time' });

const rfc3339 =
  /^(\d{4})-(\d{2})-(\d{2})[Tt]([01]\d|2[0-3]):(\d{2}):(\d{2})(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})$/;

/** An instant in its own form, if it is one. */
const canonical = /^.{10}T.{8}\.\d{3}Z$/;

/** Outside these years text order is not time order, and PostgreSQL has no year 0. */
const firstMillisecond = Date.parse('0001-01-01T00:00:00.000Z');
const lastMillisecond = Date.parse('9999-12-31T23:59:59.999Z');

/** The last instant that can be written. */
export const lastInstant = instantOf(lastMillisecond);

/** The instant some milliseconds after another, or before it; at the ends of the years 1 to 9999 time stands. */
export const shiftedBy = (instant: Instant, milliseconds: number): Instant =>
  nearestInstant(millisecondsOf(instant) + milliseconds);

/** The instant of a number of milliseconds since 1970, or what of the years 1 to 9999 is nearest to it. */
export const nearestInstant = (milliseconds: number): Instant =>
  instantOf(Math.min(Math.max(milliseconds, firstMillisecond), lastMillisecond));

/**
 * Reads an RFC 3339 text; null when it is not one, names a day that does not exist or is not in the
 * years 1 to 9999 in UTC.
 */
export function readInstant(text: string): Instant | null {
  const parts = rfc3339.exec(text);
  if (!parts) return null;
  const [, year, month, day] = parts;
  if (!isCalendarDate(`${year}-${month}-${day}`)) return null;
  const milliseconds = Date.parse(text.toUpperCase());
  const isInRange = milliseconds >= firstMillisecond && milliseconds <= lastMillisecond;
  if (!isInRange) return null;
  // Most are written as an instant is.
  return canonical.test(text) ? (text as Instant) : instantOf(milliseconds);
}

/** Tells whether a text of the form YYYY-MM-DD names a day of the calendar (2025-02-31 does not). */
export function isCalendarDate(text: string): boolean {
  const [month, day] = [text.slice(5, 7), text.slice(8)];
  if (month === '02' && day === '29') {
    return new Date(`${text}T00:00:00.000Z`).toISOString().startsWith(text);
  }
  const last = lastDays.get(month);
  return last !== undefined && day >= '01' && day <= last;
}

/** The last day of each month in a common year. To ask the runtime's calendar costs ten times as much. */
const lastDays: ReadonlyMap<string, string> = new Map([
  ['01', '31'],
  ['02', '28'],
  ['03', '31'],
  ['04', '30'],
  ['05', '31'],
  ['06', '30'],
  ['07', '31'],
  ['08', '31'],
  ['09', '30'],
  ['10', '31'],
  ['11', '30'],
  ['12', '31'],
]);

/**
 * The first instant of a UTC date written as the integer YYYYMMDD; null when there is no such
 * date. Source: specification §4.6; D24.
 */
export function startOfCompactDate(compact: number): Instant | null {
  const digits = String(compact);
  if (!/^\d{8}$/.test(digits)) return null;
  const date = `${digits.slice(0, 4)}-${digits.slice(4, 6)}-${digits.slice(6)}`;
  return isCalendarDate(date) ? instantOf(Date.parse(`${date}T00:00:00.000Z`)) : null;
}

const zoneShape = /^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+){0,2}$/;

function isTimeZone(name: string): boolean {
  if (!zoneShape.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** A time zone by its IANA name, such as `Europe/Berlin` or `UTC` (D50). An offset is no time zone. */
export const timeZoneSchema = z
  .string()
  .max(64)
  .refine(isTimeZone, 'must be an IANA time zone such as "Europe/Berlin"')
  .meta({ example: 'Europe/Berlin' });
