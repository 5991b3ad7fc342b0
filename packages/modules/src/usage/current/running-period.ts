import { calendarAnchor, type Instant, periodAt } from '@counterfoil/kernel';
import type { ResetPeriod } from '../../entitlements/index.ts';
import type { Span } from '../aggregation/aggregate.ts';

/** Before every instant of a period that runs. */
const longAgo = '0001-01-02T00:00:00.000Z' as Instant;

/**
 * The period of a calendar in a zone that runs at an instant (D54): days begin at midnight, weeks on Monday, quarters and
 * halves with the year. Null for one that never ends.
 */
export function runningPeriod(period: ResetPeriod, at: Instant, zone: string): Span | null {
  if (period === 'NEVER') return null;
  const anchor = calendarAnchor(at, period, zone);
  const { start, end } = periodAt({ anchor, unit: period, count: 1, zone }, longAgo, at);
  return { start, end };
}
