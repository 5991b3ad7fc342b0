import type { Automatic, AutoTopUp, Order } from './books.ts';
import type { AutoTopUpBody } from './commands.ts';
import type { ReferenceLedger } from './reference-ledger.ts';
import { assertLoadable, isOver, type Load, Refused, shownInstant } from './refusals.ts';
import { creditsOf, shownCredits } from './units.ts';

/** Orders of one wallet that may be open. */
const ordersMaximum = 100;
/** Automatic top-ups of a day where the settings do not say how many (D29). */
const usualLimit = 10;
export const invoiced = 'PURCHASED_CREDIT_INVOICED';

/** Orders credits that are loaded when they are paid for. No balance changes. */
export function order(
  ledger: ReferenceLedger,
  load: Load,
  at: number,
  automatic: Automatic | null = null,
): void {
  const { books } = ledger;
  if (automatic === null && books.orders.length >= ordersMaximum) {
    throw new Refused({ reason: 'limit_reached', limit: ordersMaximum });
  }
  assertLoadable(load, at);
  const id = ledger.orderIds.shift() ?? '';
  const { reason, credits, priority, expires } = load;
  const amount = ledger.amountOf(load);
  books.orders = [...books.orders, { id, reason, credits, amount, priority, expires, automatic }];
  ledger.tell({
    type: 'TopUpRequested',
    id,
    reason,
    credits: shownCredits(credits),
    amount,
    priority,
    expires: shownInstant(expires),
    balance: shownCredits(books.balance),
    automatic,
  });
}

/** Ends an order, with its load or without. An order that has ended before stays as it is. */
export function endOrder(
  ledger: ReferenceLedger,
  id: string,
  wanted: 'completed' | 'failed',
  at: number,
): void {
  const open = openOrder(ledger, id);
  if (open && wanted === 'completed' && open.expires !== null && isOver(open.expires, at)) {
    throw new Refused({ reason: 'credits_expired', expires_at: shownInstant(open.expires) }, false);
  }
  if (open) {
    ledger.due(at);
    const still = openOrder(ledger, id);
    if (still && wanted === 'completed') load(ledger, still);
    else if (still) ledger.giveUp(still, 'cancelled', at);
    conclude(ledger, at);
  }
  const status = ledger.books.ended[id];
  if (status === wanted) return;
  const details = {
    reason: 'transaction_ended',
    transaction_status: status,
    transaction_reason: invoiced,
  };
  throw new Refused(details, false);
}

const openOrder = ({ books }: ReferenceLedger, id: string): Order | undefined =>
  books.orders.find((each) => each.id === id);

function load(ledger: ReferenceLedger, paid: Order): void {
  const { books } = ledger;
  books.orders = books.orders.filter((other) => other !== paid);
  books.ended = { ...books.ended, [paid.id]: 'completed' };
  ledger.lot(paid, paid.id);
  if (paid.automatic) remember(ledger, paid.automatic, false);
}

/**
 * Does what follows from the balance: the alert, the top-up that the wallet makes by itself, the
 * alert again.
 */
export function conclude(ledger: ReferenceLedger, at: number): void {
  ledger.judge();
  topUpByItself(ledger, at);
  ledger.judge();
}

/** One top-up for each fall to the threshold, and only so many a day (D29). */
function topUpByItself(ledger: ReferenceLedger, at: number): void {
  const { books, effects } = ledger;
  const { autoTopUp, status, isAnswered, orders } = books;
  const fall = effects.findLast(({ number, type }) => number && type !== 'CreditsLoaded');
  if (!autoTopUp || !fall || status !== 'active' || books.balance > autoTopUp.threshold) return;
  if (isAnswered || orders.some(({ automatic }) => automatic)) return;
  const day = new Date(at).toISOString().slice(0, 10);
  const number = books.day === day ? books.count + 1 : 1;
  const crossing = Number(fall.number);
  const { amount: credits, isInvoiced, limit } = autoTopUp;
  if (number > limit) {
    if (books.stoppedOn === day) return;
    books.stoppedOn = day;
    const balance = shownCredits(books.balance);
    ledger.tell({ type: 'AutomaticTopUpStopped', crossing, day, limit, balance });
    return;
  }
  const automatic = { crossing, day, number };
  const reason = isInvoiced ? invoiced : 'PURCHASED_CREDIT_DIRECT';
  const wanted: Load = { reason, credits, amount: null, priority: null, expires: null };
  if (isInvoiced) order(ledger, wanted, at, automatic);
  else ledger.load(wanted, at, automatic);
  remember(ledger, automatic, isInvoiced);
}

function remember(
  { books }: ReferenceLedger,
  { day, number }: Automatic,
  isAnswered: boolean,
): void {
  Object.assign(books, { day, count: number, stoppedOn: null, isAnswered });
}

/** The settings of automatic top-up; null when it is off. */
export function autoTopUpOf(settings: AutoTopUpBody | null): AutoTopUp | null {
  if (!settings?.enabled) return null;
  return {
    amount: creditsOf(settings.amount),
    threshold: creditsOf(settings.threshold),
    isInvoiced: settings.invoicing,
    limit: settings.daily_limit ?? usualLimit,
  };
}
