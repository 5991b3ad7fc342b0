import type { Instant } from '@counterfoil/kernel';
import { derivedId } from '@counterfoil/kernel';
import { alertEvents } from '../alerts.ts';
import type { AutomaticTopUp, WalletEvent } from '../events.ts';
import type { Step } from '../ledger/chain.ts';
import { type Load, loadEvents, requestEvent } from '../ledger/entries.ts';
import { isMovement, type MovementEvent } from '../ledger/transaction.ts';
import { type AutoTopup, dailyLimitOf } from '../settings.ts';
import type { Wallet } from '../wallet.ts';
import { isLow } from './topups.ts';

/**
 * The consequences of the balance after an operation: the alert state is judged, the wallet tops itself
 * up where the settings say so, and the new balance is judged as well (D28, D29).
 */
export const concluded = (at: Instant): readonly Step[] => [
  alertEvents,
  (wallet, events) => automaticEvents(wallet, events, at),
  alertEvents,
];

/**
 * The automatic top-up of a wallet, which follows when an operation has taken credits and the balance is
 * at the threshold or below. A fall is answered once: not again while its top-up waits, nor after that
 * has failed, until the balance was above the threshold (ADR 11). A frozen wallet buys nothing.
 */
function automaticEvents(
  wallet: Wallet,
  events: readonly WalletEvent[],
  at: Instant,
): readonly WalletEvent[] {
  const { auto_topup: settings, automatic, wallet_status, topups, credit_balance } = wallet;
  const fall = events.findLast(takesCredits);
  if (!fall || !settings || !isLow(settings, credit_balance) || wallet_status !== 'active') {
    return [];
  }
  if (automatic.is_answered || topups.some((topup) => topup.automatic)) return [];
  const crossing = fall.data.transaction_id;
  const day = at.slice(0, 'YYYY-MM-DD'.length);
  const number = automatic.day === day ? automatic.count + 1 : 1;
  const limit = dailyLimitOf(settings);
  if (number <= limit) return topUpEvents(wallet, settings, { crossing, day, number }, at);
  if (automatic.stopped_on === day) return [];
  return [{ type: 'AutomaticTopUpStopped', data: { crossing, day, limit, credit_balance } }];
}

const takesCredits = (event: WalletEvent): event is MovementEvent =>
  isMovement(event) && event.type !== 'CreditsLoaded';

/** An order when an invoice has to be paid first, else a load. */
function topUpEvents(
  wallet: Wallet,
  { invoicing, amount: credits }: AutoTopup,
  automatic: AutomaticTopUp,
  at: Instant,
): readonly WalletEvent[] {
  const key = `auto_topup:${automatic.crossing}`;
  const load: Load = {
    reason: invoicing ? 'PURCHASED_CREDIT_INVOICED' : 'PURCHASED_CREDIT_DIRECT',
    referenceType: null,
    referenceId: automatic.crossing,
    description: 'Automatic top-up',
    idempotencyKey: key,
    metadata: {},
    quantity: { credits },
    priority: null,
    expiresAt: null,
    automatic,
  };
  if (!invoicing) return loadEvents(wallet, load, at);
  // The number of the entry and not its id, which changes when the decision is made again.
  const seed = `${wallet.id}\nauto_topup\n${wallet.transactions}`;
  return [requestEvent(wallet, load, derivedId('wtxn', seed), at)];
}
