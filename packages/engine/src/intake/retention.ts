import { type Instant, invariant } from '@counterfoil/kernel';

const monthsOfYear = 12;

/**
 * The instant up to which facts are old: the beginning of a month of UTC, so many months before the one that runs.
 *
 * @param months how many whole months are kept beside the one that runs
 */
export function oldUpTo(now: Instant, months: number): Instant {
  const running = Number(now.slice(0, 4)) * monthsOfYear + Number(now.slice(5, 7)) - 1;
  const first = running - months;
  invariant(first >= 0, `${months} months before ${now} there was no time`);
  const year = String(Math.floor(first / monthsOfYear)).padStart(4, '0');
  const month = String((first % monthsOfYear) + 1).padStart(2, '0');
  return `${year}-${month}-01T00:00:00.000Z` as Instant;
}
