import type { Instant, Span } from '@counterfoil/kernel';
import type { UsageStretch } from '../../usage/index.ts';
import type { User } from '../families/family.ts';
import { outside } from '../settlement/index.ts';

/**
 * The stretches of a span in which the usage of the same customers counts, in the order of time. In pauses nobody's does,
 * and that of a customer who inherits a subscription counts from when it began to until it ceased to (E 10.9).
 */
export const stretchesOf = (
  users: readonly User[],
  pauses: readonly Span[],
  span: Span,
): readonly UsageStretch[] =>
  outside(span, pauses)
    .flatMap((part) => cutAt(part, users.flatMap(turnsOf)))
    .flatMap((part): UsageStretch[] => {
      const active = users.filter((user) => isActive(user, part));
      const customerIds = [...new Set(active.map(({ customer_id }) => customer_id))];
      return customerIds.length === 0 ? [] : [{ customerIds, span: part }];
    });

/** Tells whether the usage of a customer counts at any time in a span. */
export const isActive = ({ since, until }: User, { start, end }: Span): boolean =>
  (since === null || since < end) && (until === null || until > start);

const turnsOf = ({ since, until }: User): Instant[] => [since ?? [], until ?? []].flat();

function cutAt({ start, end }: Span, instants: readonly Instant[]): Span[] {
  const within = [...new Set(instants)].filter((at) => start < at && at < end).sort();
  const starts = [start, ...within];
  return starts.map((from, place) => ({ start: from, end: starts[place + 1] ?? end }));
}
