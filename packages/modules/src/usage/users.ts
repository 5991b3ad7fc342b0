import type { Instant, Span } from '@counterfoil/kernel';
import type { UsageStretch } from './analytics/usage-in-stretches.ts';

/** A customer whose usage counts together with that of others, and the time for which it does; null: without a bound. */
export interface CountedUser {
  readonly customer_id: string;
  readonly since: Instant | null;
  readonly until: Instant | null;
}

/** Tells whether the usage of a customer counts at any time in a span. */
export const isActive = ({ since, until }: CountedUser, { start, end }: Span): boolean =>
  (since === null || since < end) && (until === null || until > start);

/** The stretches of a span in which the usage of the same customers counts, in the order of time. */
export const stretchesOfUsers = (
  users: readonly CountedUser[],
  span: Span,
): readonly UsageStretch[] =>
  cutAt(span, users.flatMap(turnsOf)).flatMap((part): UsageStretch[] => {
    const active = users.filter((user) => isActive(user, part));
    const customerIds = [...new Set(active.map(({ customer_id }) => customer_id))];
    return customerIds.length === 0 ? [] : [{ customerIds, span: part }];
  });

const turnsOf = ({ since, until }: CountedUser): Instant[] => [since ?? [], until ?? []].flat();

function cutAt({ start, end }: Span, instants: readonly Instant[]): Span[] {
  const within = [...new Set(instants)].filter((at) => start < at && at < end).sort();
  const starts = [start, ...within];
  return starts.map((from, place) => ({ start: from, end: starts[place + 1] ?? end }));
}
