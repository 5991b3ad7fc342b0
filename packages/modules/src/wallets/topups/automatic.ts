import { derivedId, type Instant, Problem, RefusedWithEvents } from '@counterfoil/kernel';
import { alertEvents } from '../alerts.ts';
import type { AutomaticTopUp, Occasion, WalletEvent } from '../events.ts';
import { chain, type Step } from '../ledger/chain.ts';
import { dueEvents } from '../ledger/due.ts';
import { type Load, loadEvents, requestEvent } from '../ledger/entries.ts';
import { isMovement } from '../ledger/transaction.ts';
import { type AutoTopup, dailyLimitOf } from '../settings.ts';
import { availableIn, type Wallet } from '../wallet.ts';
import { hasAutomaticOrder, isLow } from './topups.ts';

/** An occasion that is not a change of what can be spent. */
type NamedCause = Exclude<Occasion['cause'], 'change' | 'ongoing'>;

/**
 * The consequences of an operation: the alert state is judged, the wallet tops itself up where the
 * settings say so, and the new state is judged as well (D28, D29).
 *
 * @param cause the occasion for a top-up, where it is not a change of what can be spent
 */
export const concluded = (at: Instant, cause: NamedCause | null = null): readonly Step[] => [
  alertEvents,
  (wallet, events) => automaticEvents(wallet, occasionOf(events, cause), at),
  alertEvents,
];

/**
 * An operation that takes credits or sets them aside, behind all that is due. When it is refused for
 * lack of funds, the refusal stands, and what follows from it is added to it (D72).
 */
export function taking(
  wallet: Wallet,
  at: Instant,
  steps: readonly Step[],
): readonly WalletEvent[] {
  const due: Step = (current) => dueEvents(current, at);
  try {
    return chain(wallet, [due, ...steps, ...concluded(at)]);
  } catch (reason) {
    if (!(reason instanceof Problem) || !isShortage(reason)) throw reason;
    const events = chain(wallet, [due, ...concluded(at, 'refused_debit')]);
    throw events.length === 0 ? reason : new RefusedWithEvents(reason, events);
  }
}

/** Tells whether a problem, or a recorded one, is that credits were refused for lack of funds. */
const isShortage = ({ details }: { readonly details?: RefusalDetails }): boolean =>
  details?.reason === 'insufficient_credits';

type RefusalDetails = Readonly<Record<string, unknown>> | null | undefined;

/** Tells whether an event is that of a bulk of which a debit was refused for lack of funds. */
const hasRefusedDebit = (event: WalletEvent): boolean =>
  event.type === 'BulkRecorded' &&
  event.data.results.some((result) => 'details' in result && isShortage(result));

function occasionOf(events: readonly WalletEvent[], cause: NamedCause | null): Occasion | null {
  if (cause) return { cause, cause_id: null };
  if (events.some(hasRefusedDebit)) return { cause: 'refused_debit', cause_id: null };
  const change = events.findLast((event) => isMovement(event) || 'hold_id' in event.data);
  if (!change) return null;
  const { data } = change;
  if ('transaction_id' in data) return { cause: 'change', cause_id: data.transaction_id };
  return { cause: 'change', cause_id: 'hold_id' in data ? data.hold_id : null };
}

/**
 * The automatic top-up of a wallet: whenever what can be spent is at the threshold or below, and after a
 * refused debit whatever the threshold says. None while another waits for its payment, nor of a wallet that is
 * frozen (ADR 11).
 *
 * @param available the credits that are held against the threshold
 */
export function automaticEvents(
  wallet: Wallet,
  occasion: Occasion | null,
  at: Instant,
  available = availableIn(wallet),
): readonly WalletEvent[] {
  const { auto_topup: settings, automatic, wallet_status } = wallet;
  if (!occasion || !settings?.enabled || wallet_status !== 'active') return [];
  const isWanted = occasion.cause === 'refused_debit' || isLow(settings, available);
  if (!isWanted || hasAutomaticOrder(wallet)) return [];
  const day = at.slice(0, 'YYYY-MM-DD'.length);
  const number = automatic.day === day ? automatic.count + 1 : 1;
  const limit = dailyLimitOf(settings);
  if (number <= limit) return topUpEvents(wallet, settings, { ...occasion, day, number }, at);
  if (automatic.stopped_on === day) return [];
  return [{ type: 'AutomaticTopUpStopped', data: { ...occasion, day, limit, available } }];
}

/** An order when an invoice has to be paid first, else a load. */
function topUpEvents(
  wallet: Wallet,
  { invoicing, amount: credits }: AutoTopup,
  automatic: AutomaticTopUp,
  at: Instant,
): readonly WalletEvent[] {
  // Day and number, and not the entry that caused it: its id changes when the decision is made again.
  const key = `auto_topup:${automatic.day}:${automatic.number}`;
  const load: Load = {
    reason: invoicing ? 'PURCHASED_CREDIT_INVOICED' : 'PURCHASED_CREDIT_DIRECT',
    referenceType: null,
    referenceId: automatic.cause_id,
    description: 'Automatic top-up',
    idempotencyKey: key,
    metadata: {},
    quantity: { credits },
    priority: null,
    expiresAt: null,
    automatic,
  };
  if (!invoicing) return loadEvents(wallet, load, at);
  return [requestEvent(wallet, load, derivedId('wtxn', `${wallet.id}\n${key}`), at)];
}
