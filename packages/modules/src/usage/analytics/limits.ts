import {
  type Instant,
  invalidField,
  nextWindow,
  type Problem,
  type Span,
  type WindowRhythm,
  windowStart,
} from '@counterfoil/kernel';

/** The most that one answer has. */
export const analyticsLimits = {
  features: 100,
  items: 1_000,
  points: 10_000,
  groupings: 5,
} as const;

/** The refusal of an answer with more groups than it may have. */
export const tooManyGroups = (): Problem =>
  invalidField(
    '/group_by',
    `gives more than ${analyticsLimits.items} groups: group by less, or filter by property_filters or feature_ids`,
  );

/** The refusal of an answer with more windows than it may have. */
export const tooManyPoints = (): Problem =>
  invalidField(
    '/window_size',
    `gives more than ${analyticsLimits.points} points: take larger windows, a shorter span or fewer groups`,
  );

/** The whole starts of the windows that cover a span. Refuses too many of them. */
export function windowStartsOf(rhythm: WindowRhythm, { start, end }: Span): readonly Instant[] {
  const starts: Instant[] = [];
  for (let at = windowStart(rhythm, start); at < end; at = nextWindow(rhythm, at)) {
    starts.push(at);
    if (starts.length > analyticsLimits.points) throw tooManyPoints();
  }
  return starts;
}
