import { Temporal } from 'temporal-polyfill';
import { midnight, millisecondsAt, zoned } from './calendar.ts';
import { type Instant, lastInstant, laterOf, nearestInstant, shiftedBy } from './instant.ts';
import { invariant } from './problem.ts';

/** The sizes of the windows that usage is counted in. */
export const windowSizes = [
  'MINUTE',
  '15MIN',
  '30MIN',
  'HOUR',
  '3HOUR',
  '6HOUR',
  '12HOUR',
  'DAY',
  'WEEK',
  'MONTH',
] as const;
export type WindowSize = (typeof windowSizes)[number];

/** The rhythm of windows: their size, the zone whose clock they follow, and the day that months begin on. */
export interface WindowRhythm {
  readonly size: WindowSize;
  /** IANA name. */
  readonly zone: string;
  /** Months begin on its day of the month and at its clock time; without it on the first, at midnight. */
  readonly anchor?: Instant | undefined;
}

const minuteMilliseconds = 60_000;
const hourMinutes = 60;
/** The minutes of the sizes below a day, as a clock that is not changed shows them. */
export const windowMinutes: Readonly<Partial<Record<WindowSize, number>>> = {
  MINUTE: 1,
  '15MIN': 15,
  '30MIN': 30,
  HOUR: 60,
  '3HOUR': 180,
  '6HOUR': 360,
  '12HOUR': 720,
};

const instantIn = (at: Temporal.ZonedDateTime): Instant => nearestInstant(at.epochMilliseconds);

const midnightOf = (date: Temporal.PlainDate, zone: string): Instant =>
  nearestInstant(millisecondsAt(date, midnight, zone));

/**
 * The start of the window that an instant lies in (D54): whole, whatever a request cuts off. Weeks begin on Monday.
 * Windows below a day begin where the zone's clock shows a multiple of their size; an hour that the clock
 * repeats is two windows of an hour, and part of one longer window. A clock that moves by half an hour begins a window
 * of an hour where it moves.
 */
export function windowStart({ size, zone, anchor }: WindowRhythm, at: Instant): Instant {
  const local = zoned(at, zone);
  const length = windowMinutes[size];
  if (length !== undefined)
    return length > hourMinutes ? within(local, length) : ago(local, length);
  const date = local.toPlainDate();
  if (size === 'DAY') return midnightOf(date, zone);
  if (size === 'WEEK') return midnightOf(date.subtract({ days: local.dayOfWeek - 1 }), zone);
  return monthStart(local, anchor === undefined ? null : zoned(anchor, zone));
}

/** By time that has passed since the zone's clock showed the start, or since it moved. */
function ago(local: Temporal.ZonedDateTime, length: number): Instant {
  const into =
    (local.minute % length) * minuteMilliseconds + local.second * 1_000 + local.millisecond;
  const start = nearestInstant(local.epochMilliseconds - into);
  // No clock moves by less than that today.
  if (length < hourMinutes) return start;
  const isUnmoved = zoned(start, local.timeZoneId).offsetNanoseconds === local.offsetNanoseconds;
  return isUnmoved ? start : laterOf(start, lastMove(local));
}

/** The instant at which the zone's clock moved last, up to a time. */
function lastMove(local: Temporal.ZonedDateTime): Instant {
  const move = local.add({ milliseconds: 1 }).getTimeZoneTransition('previous');
  invariant(move, 'the offset has changed');
  return instantIn(move);
}

/** By the clock, which may have gone back or ahead since. */
function within(local: Temporal.ZonedDateTime, length: number): Instant {
  const hour = Math.floor((local.hour * hourMinutes) / length) * (length / hourMinutes);
  const plainTime = new Temporal.PlainTime(hour);
  return nearestInstant(millisecondsAt(local.toPlainDate(), plainTime, local.timeZoneId));
}

function monthStart(local: Temporal.ZonedDateTime, anchor: Temporal.ZonedDateTime | null): Instant {
  const day = anchor?.day ?? 1;
  const plainTime = anchor?.toPlainTime() ?? midnight;
  const startIn = (months: number): Instant => {
    const month = local.toPlainDate().toPlainYearMonth().add({ months });
    // A day that a month does not have is its last one.
    const date = month.toPlainDate({ day: Math.min(day, month.daysInMonth) });
    return nearestInstant(millisecondsAt(date, plainTime, local.timeZoneId));
  };
  const inThisMonth = startIn(0);
  return inThisMonth <= instantIn(local) ? inThisMonth : startIn(-1);
}

/** The start of the window after the one that begins at an instant; the last window ends where time does. */
export function nextWindow(rhythm: WindowRhythm, start: Instant): Instant {
  const next = windowAfter(rhythm, start);
  return next > start ? next : lastInstant;
}

function windowAfter(rhythm: WindowRhythm, start: Instant): Instant {
  const { size, zone } = rhythm;
  const length = windowMinutes[size];
  if (length === undefined) {
    const local = zoned(start, zone);
    if (size === 'DAY') return midnightOf(local.toPlainDate().add({ days: 1 }), zone);
    if (size === 'WEEK') return midnightOf(local.toPlainDate().add({ days: 7 }), zone);
    // A day after the next beginning, however long the months are, and before the one after it.
    return windowStart(rhythm, instantIn(local.add({ days: 32 })));
  }
  // A clock that goes back makes a longer window an hour longer.
  const beyond = length > hourMinutes ? length + hourMinutes : length;
  return windowStart(rhythm, shiftedBy(start, beyond * minuteMilliseconds));
}
