import { type Instant, lastInstant, shiftedBy } from '@counterfoil/kernel';

/** Roll-ups are kept by hours of UTC. */
const hourMilliseconds = 3_600_000;

/** The hour that an instant lies in. */
export const hourOf = (at: Instant): Instant => `${at.slice(0, 13)}:00:00.000Z` as Instant;

/** The hour after the one that begins at an instant; at the end of the year 9999 time stands. */
export const hourAfter = (hour: Instant): Instant => shiftedBy(hour, hourMilliseconds);

/** The first hour that begins at an instant or after it. */
export const hourFrom = (at: Instant): Instant => {
  const hour = hourOf(at);
  return hour === at ? hour : hourAfter(hour);
};

/** The last end of an hour up to an instant. Time that has no end is cut nowhere. */
export const hourUpTo = (at: Instant): Instant => (at === lastInstant ? at : hourOf(at));
