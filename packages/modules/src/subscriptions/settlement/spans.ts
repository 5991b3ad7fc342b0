import { type Instant, millisecondsOf, type Span } from '@counterfoil/kernel';

/** A stretch of time in which a subscription was paused. */
export interface PauseSpan extends Span {
  /** True where usage in it is billed all the same. */
  readonly bills_usage?: boolean;
}

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

/** The parts of a stretch outside pauses, which do not overlap. */
export function outside(span: Span, pauses: readonly Span[]): Span[] {
  const inside = pausedIn(span, pauses).sort((left, right) => (left.start < right.start ? -1 : 1));
  const starts = [span.start, ...inside.map(({ end }) => end)];
  const ends = [...inside.map(({ start }) => start), span.end];
  return starts.flatMap((start, place) => {
    const end = ends[place] ?? span.end;
    return start < end ? { start, end } : [];
  });
}

/** Milliseconds of a stretch that are charged for: those outside the pauses, which do not overlap. */
export const billableLength = (span: Span, pauses: readonly Span[]): bigint =>
  pausedIn(span, pauses).reduce((left, pause) => left - lengthOf(pause), lengthOf(span));

const lengthOf = ({ start, end }: Span): bigint =>
  BigInt(millisecondsOf(end)) - BigInt(millisecondsOf(start));
