import { type Instant, invariant, shiftedBy } from '@counterfoil/kernel';

/** The month of an instant, whose events are a partition of their own. */
export interface Month {
  readonly name: string;
  readonly from: string;
  readonly to: string;
}

const firstYear = 2020;

/**
 * The month of a timestamp that has a partition; null for what lies so far back, or ahead of the month of its
 * recording, that it stands with the others of this kind. So nobody can make partitions without end.
 */
export function monthOf(at: string, recordedAt: string): Month | null {
  const month = monthTextOf(at);
  if (month < `${firstYear}` || month > nextMonth(monthTextOf(recordedAt))) return null;
  // Time ends within the last month that can be written.
  return nextMonth(month) === month ? null : monthNamed(month);
}

/** The month of an instant, as people write it: 2026-11. */
export const monthTextOf = (at: string): string => at.slice(0, '2026-11'.length);

const monthShape = /^\d{4}-\d\d$/;

/** A month by its name among people. Throws on any other text, which would go into statements. */
export function monthNamed(month: string): Month {
  invariant(monthShape.test(month), `${month} is no month`);
  const name = `event_${month.replace('-', '_')}`;
  return { name, from: `${month}-01`, to: `${nextMonth(month)}-01` };
}

/** The month after one that is written as 2026-11; the last month of time is its own. */
const nextMonth = (month: string): string =>
  shiftedBy(`${month}-15T00:00:00.000Z` as Instant, 31 * dayMilliseconds).slice(0, 7);

const dayMilliseconds = 86_400_000;
