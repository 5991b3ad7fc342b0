import { type Instant, millisecondsOf, type Span } from '@counterfoil/kernel';

/** The part that two half-open stretches of time have in common; null where there is none. */
export function intersection(one: Span, other: Span): Span | null {
  const start = one.start > other.start ? one.start : other.start;
  const end = one.end < other.end ? one.end : other.end;
  return start < end ? { start, end } : null;
}

/** The part of a stretch in which something is that begins and perhaps ends; null where there is none. */
export const during = (span: Span, start: Instant, end: Instant | null): Span | null =>
  intersection(span, { start, end: end ?? span.end });

/** The part of a stretch from an instant on; null where nothing is left. */
export const from = (span: Span, at: Instant): Span | null =>
  intersection(span, { start: at, end: span.end });

/** The parts of a stretch that lie in pauses. */
export const pausedIn = (span: Span, pauses: readonly Span[]): Span[] =>
  pauses.flatMap((pause) => intersection(span, pause) ?? []);

/** Milliseconds of a stretch that are charged for: those outside the pauses, which do not overlap. */
export const billableLength = (span: Span, pauses: readonly Span[]): bigint =>
  pausedIn(span, pauses).reduce((left, pause) => left - lengthOf(pause), lengthOf(span));

const lengthOf = ({ start, end }: Span): bigint =>
  BigInt(millisecondsOf(end)) - BigInt(millisecondsOf(start));
