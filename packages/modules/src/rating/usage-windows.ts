import {
  type Instant,
  invariant,
  type PeriodUnit,
  periodAt,
  periodBoundary,
  type Span,
} from '@counterfoil/kernel';
import type { ResetPeriod } from '../entitlements/index.ts';
import type { AggregationType } from '../meters/index.ts';

/** The stretches of time whose usage a line needs for one period of its allowance. */
export interface WantedWindow {
  readonly start: Instant;
  /** Null: the allowance never starts over. */
  readonly end: Instant | null;
  /** Null where the period of the allowance begins within the rated one. */
  readonly before: Span | null;
  readonly through: Span;
}

/** The rhythm in which the allowance of a subscription starts over. */
export interface AllowanceRhythm {
  /** Null: with the billing period. */
  readonly resets: ResetPeriod | null;
  /** The billing period of the line, in which the rated period lies. */
  readonly billing: Span;
  /** The subscription's own (D36). */
  readonly anchor: Instant;
  readonly zone: string;
  readonly start: Instant;
}

/**
 * True where the values of parts of a period add up to that of the whole. Others are levels, and have no past that an
 * allowance could have been used up in.
 */
const addsUp: Readonly<Record<AggregationType, boolean>> = {
  COUNT: true,
  SUM: true,
  SUM_WITH_MULTIPLIER: true,
  AVG: false,
  MAX: false,
  LATEST: false,
  COUNT_UNIQUE: false,
  WEIGHTED_SUM: false,
};

/**
 * The usage that is needed to rate a period (E 8.4). All seven reset periods are one rule: every period of the allowance
 * that meets the rated one counts from its own start, so that what was free before is not free again. They are counted
 * from the anchor of the subscription with its clock time and zone. A level is held against the allowance once.
 */
export function usageWindows(
  rated: Span,
  aggregation: AggregationType,
  rhythm: AllowanceRhythm,
): readonly WantedWindow[] {
  if (!addsUp[aggregation]) return [{ ...rated, before: null, through: rated }];
  const { resets, billing, start } = rhythm;
  if (resets === null) {
    const isWithin = billing.start <= rated.start && rated.end <= billing.end;
    invariant(isWithin, 'what is rated lies in its billing period');
    return [wanted(rated, billing)];
  }
  if (resets === 'NEVER') return [wanted(rated, { start, end: null })];
  return periodsMeeting(rated, resets, rhythm).map((period) => wanted(rated, period));
}

function wanted(
  rated: Span,
  { start, end }: { readonly start: Instant; readonly end: Instant | null },
): WantedWindow {
  const through = { start, end: end !== null && end < rated.end ? end : rated.end };
  return { start, end, before: start < rated.start ? { start, end: rated.start } : null, through };
}

function periodsMeeting(
  rated: Span,
  unit: PeriodUnit,
  { anchor, zone, start }: AllowanceRhythm,
): readonly Span[] {
  const cadence = { anchor, unit, count: 1, zone };
  const periods: Span[] = [];
  const first = periodAt(cadence, start, rated.start);
  let period: Span = first;
  for (let index = first.index + 1; period.start < rated.end; index += 1) {
    if (period.start < period.end) periods.push({ start: period.start, end: period.end });
    period = { start: period.end, end: periodBoundary(cadence, start, index + 1) };
  }
  return periods;
}
