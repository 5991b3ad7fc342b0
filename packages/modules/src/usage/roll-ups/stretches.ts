import {
  type Instant,
  nextWindow,
  shiftedBy,
  type WindowRhythm,
  type WindowSize,
  windowStart,
} from '@counterfoil/kernel';
import { hourAfter } from './hours.ts';

/** Windows or buckets, as far as whole hours of UTC lie in them. Hours are asked for in the order of time. */
export interface Stretches {
  /** Tells whether an hour lies in one of them with all of its length, or is made of whole ones. */
  fits(hour: Instant): boolean;
  /** The start of the one that an instant of such an hour lies in. */
  startOf(at: Instant): Instant;
}

/** A size below an hour. */
export const isBelowHour = (size: WindowSize): boolean =>
  size === 'MINUTE' || size === '15MIN' || size === '30MIN';

/** The stretches of a rhythm. */
export const stretchesOf = (rhythm: WindowRhythm): Stretches =>
  isBelowHour(rhythm.size) ? withinHours(rhythm) : ofHours(rhythm);

/** Stretches of an hour or more: one is remembered until an hour lies beyond it. */
function ofHours(rhythm: WindowRhythm): Stretches {
  let current: { readonly start: Instant; readonly end: Instant } | null = null;
  const around = (at: Instant) => {
    if (current && at >= current.start && at < current.end) return current;
    const start = windowStart(rhythm, at);
    current = { start, end: nextWindow(rhythm, start) };
    return current;
  };
  return {
    fits: (hour) => {
      const { start, end } = around(hour);
      return hourAfter(hour) <= end && windowStart(rhythm, lastOf(hour)) === start;
    },
    startOf: (at) => around(at).start,
  };
}

/** Stretches of minutes, which are kept as the clock of UTC has them: the zone's must have the same. */
const withinHours = (rhythm: WindowRhythm): Stretches => ({
  fits: (hour) =>
    windowStart(rhythm, hour) === hour &&
    nextWindow(rhythm, windowStart(rhythm, lastOf(hour))) === hourAfter(hour),
  startOf: (at) => at,
});

const lastOf = (hour: Instant): Instant => shiftedBy(hour, 3_599_999);
