import { type Instant, type PeriodUnit, periodAt, type Span } from '@counterfoil/kernel';

/** A term of a commitment, as a billing period sees it. */
export interface CommitmentTerm extends Span {
  /** 0 for the first. */
  readonly index: number;
  /** True where no later billing period belongs to it. */
  readonly is_last_period: boolean;
}

/**
 * The term of a commitment that a billing period belongs to (E 14.3): term k runs from `start + k × duration`, one after
 * the other for as long as the subscription lasts, and counts the billing periods that begin in it.
 */
export function commitmentTerm(
  start: Instant,
  duration: PeriodUnit,
  zone: string,
  billing: Span,
): CommitmentTerm {
  const cadence = { anchor: start, unit: duration, count: 1, zone };
  const term = periodAt(cadence, start, billing.start);
  return { ...term, is_last_period: billing.end >= term.end };
}
