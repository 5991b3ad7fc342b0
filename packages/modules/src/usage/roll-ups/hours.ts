import { type Instant, instantOf, millisecondsOf } from '@counterfoil/kernel';

/** Milliseconds of an hour, and hours of UTC are what roll-ups are kept by. */
export const hourMilliseconds = 3_600_000;

/** The hour that an instant lies in. */
export const hourOf = (at: Instant): Instant => `${at.slice(0, 13)}:00:00.000Z` as Instant;

/** The hour after the one that begins at an instant. */
export const hourAfter = (hour: Instant): Instant =>
  instantOf(millisecondsOf(hour) + hourMilliseconds);

/** The first hour that begins at an instant or after it. */
export const hourFrom = (at: Instant): Instant => {
  const hour = hourOf(at);
  return hour === at ? hour : hourAfter(hour);
};
