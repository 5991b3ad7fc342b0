import type { Instant, Stamped } from '@counterfoil/kernel';
import type { WalletEvent } from '../events.ts';

/**
 * The instant at which an event counts: the nominal instant for lots, holds and orders that end by
 * themselves, however late that is booked; the instant of its recording for what is no entry (D41).
 */
export function effectiveAt(event: Stamped<WalletEvent>): Instant {
  switch (event.type) {
    case 'CreditsLoaded':
    case 'CreditsDebited':
    case 'CreditsExpired':
    case 'HoldCaptured':
    case 'DebitReversed':
      return event.data.effective_at;
    case 'HoldReleased':
      return event.data.released_at;
    case 'TopUpFailed':
      return event.data.failed_at;
    default:
      return event.stamp.occurred_at;
  }
}
