import { type Instant, laterOf, Problem } from '@counterfoil/kernel';
import { pausedSpans } from '../pauses/pause.ts';
import type { Subscription } from '../subscription.ts';

/** The instant from which on the state of a subscription is as its figures show it: of its period, or of the end of a pause. */
export const unchangedSince = (current: Subscription): Instant =>
  laterOf(
    current.opened?.start ?? current.start_date,
    pausedSpans(current).at(-1)?.end ?? current.start_date,
  );

/**
 * The instant at which something takes effect that is asked for now: that of a quote, where there is one (D66).
 *
 * @throws 409 for a quote that a period has begun since, or a pause has ended
 */
export function quotedInstant(
  current: Subscription,
  quoted: Instant | null,
  now: Instant,
): Instant {
  if (quoted === null) return now;
  if (current.opened === null || quoted >= unchangedSince(current)) return quoted;
  throw new Problem('version_conflict', 'A period has begun since the quote was made.', {
    details: { reason: 'quote_outdated' },
  });
}
