import { type Instant, invalidField, type Span, shiftedBy } from '@counterfoil/kernel';

const thirtyDays = 30 * 86_400_000;

/** The ends of a span in a request. */
export interface AskedSpan {
  readonly start_time?: Instant | undefined;
  readonly end_time?: Instant | undefined;
}

/**
 * The span that is asked about: the usual time before its end, 30 days, unless the request says otherwise, up to now.
 * 400 where it is empty.
 */
export function askedSpan(
  now: Instant,
  { start_time, end_time }: AskedSpan,
  usualMilliseconds = thirtyDays,
): Span {
  const end = end_time ?? now;
  const start = start_time ?? shiftedBy(end, -usualMilliseconds);
  if (start >= end) throw invalidField('/end_time', `must be after start_time, ${start}`);
  return { start, end };
}
