import { type Instant, laterOf } from '@counterfoil/kernel';
import type { WalletEvent } from '../events.ts';
import type { Wallet } from '../wallet.ts';
import { foldInto } from './chain.ts';
import { expiryEvent, failureEvent, releaseEvent } from './entries.ts';

/** The end of something that ends by itself, and its instant. */
interface Ending {
  readonly instant: Instant;
  readonly event: WalletEvent;
}

/**
 * Everything that has ended by itself by now, in the order of time: holds, orders, and lots with the
 * credits that holds have returned to them. At one instant holds end first, so that a lot expires whole.
 *
 * Credits that return to a lot after its expiry expire when they return. `since` is that moment for the
 * credits that the events before have returned; null when they returned none.
 */
export function dueEvents(
  wallet: Wallet,
  at: Instant,
  since: Instant | null = null,
): readonly WalletEvent[] {
  const events: WalletEvent[] = [];
  let current = wallet;
  let reached = since;
  for (;;) {
    const next = firstEnding(current, at, reached);
    if (!next) return events;
    reached = next.instant;
    events.push(next.event);
    current = foldInto(current, next.event);
  }
}

/** The wallet after everything that is due has been booked. */
export const settledWallet = (wallet: Wallet, at: Instant): Wallet =>
  dueEvents(wallet, at).reduce(foldInto, wallet);

function firstEnding(wallet: Wallet, at: Instant, since: Instant | null): Ending | null {
  const hold = earliest(wallet.holds, at);
  const topup = earliest(wallet.topups, at);
  const lot = earliest(wallet.lots, at);
  const expiry = lot && laterOf(lot.expires_at, since ?? lot.expires_at);
  const instant = [hold?.expires_at, topup?.expires_at, expiry ?? undefined].reduce(earlierOf);
  if (!instant) return null;
  if (hold?.expires_at === instant) {
    return { instant, event: releaseEvent(wallet, hold, 'expired', instant) };
  }
  if (topup?.expires_at === instant) {
    return { instant, event: failureEvent(wallet, topup, 'expired', instant) };
  }
  return lot && { instant, event: expiryEvent(wallet, lot, instant, at) };
}

const earlierOf = (a: Instant | undefined, b: Instant | undefined): Instant | undefined =>
  a === undefined || (b !== undefined && b < a) ? b : a;

type Expiring<Item> = Item & { readonly expires_at: Instant };

/** The first of the items that have expired by now; of several at one instant the first in the list. */
function earliest<Item extends { readonly expires_at: Instant | null }>(
  items: readonly Item[],
  at: Instant,
): Expiring<Item> | null {
  let first: Expiring<Item> | null = null;
  for (const item of items) {
    if (item.expires_at === null || item.expires_at > at) continue;
    if (first === null || item.expires_at < first.expires_at) first = item as Expiring<Item>;
  }
  return first;
}
