import { calendarPeriod, type Instant, type Span } from '@counterfoil/kernel';
import type { ResetPeriod } from '../../entitlements/index.ts';

/** The period of a calendar in a zone that runs at an instant (D54). Null for one that never ends. */
export const runningPeriod = (period: ResetPeriod, at: Instant, zone: string): Span | null =>
  period === 'NEVER' ? null : calendarPeriod(at, period, zone);
