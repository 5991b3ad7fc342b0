import {
  type Automatic,
  type AutoTopUp,
  type Books,
  type Occasion,
  type Order,
  spendable,
} from './books.ts';
import type { AutoTopUpBody } from './commands.ts';
import type { Effect, ReferenceLedger } from './reference-ledger.ts';
import { assertLoadable, isOver, type Load, Refused, shortage, shownInstant } from './refusals.ts';
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
  const made = ledger.now;
  const ordered = { id, reason, credits, amount, priority, expires, automatic, made };
  books.orders = [...books.orders, ordered];
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
  ledger.lot(paid, paid);
}

/**
 * Does what follows from an operation: the alert, the top-up that the wallet makes by itself, the
 * alert again. `cause` is the occasion where it is not that something has changed.
 */
export function conclude(
  ledger: ReferenceLedger,
  at: number,
  cause: Occasion['cause'] | null = null,
): void {
  ledger.judge();
  const occasion = cause ? { cause, by: null } : occasionIn(ledger);
  if (occasion) topUpByItself(ledger, occasion, at);
  ledger.judge();
}

/** The occasion that the effects so far give the wallet; null when they give none. */
function occasionIn({ effects }: ReferenceLedger): Occasion | null {
  const isShort = ({ type, results }: Effect) =>
    type === 'BulkRecorded' &&
    (results as readonly { details?: { reason?: unknown } }[]).some(
      ({ details }) => details?.reason === shortage,
    );
  if (effects.some(isShort)) return { cause: 'refused_debit', by: null };
  const change = effects.findLast(({ type }) => changes.has(type));
  if (!change) return null;
  return { cause: 'change', by: (change.number ?? change.id) as number | string };
}

/** Types of effects that change what can be spent. */
const changes = new Set([
  'CreditsLoaded',
  'CreditsDebited',
  'CreditsExpired',
  'DebitReversed',
  'CreditsHeld',
  'HoldChanged',
  'HoldCaptured',
  'HoldReleased',
]);

/** One top-up at a time, for credits at the threshold or below, and only so many a day (D29, D72). */
function topUpByItself(ledger: ReferenceLedger, occasion: Occasion, at: number): void {
  const { books } = ledger;
  const { autoTopUp, status, orders } = books;
  if (!autoTopUp || status !== 'active' || orders.some(({ automatic }) => automatic)) return;
  if (occasion.cause !== 'refused_debit' && !isLow(books)) return;
  const day = dayOf(at);
  const number = books.day === day ? books.count + 1 : 1;
  const { amount: credits, isInvoiced, limit } = autoTopUp;
  if (number > limit) {
    if (books.stoppedOn === day) return;
    books.stoppedOn = day;
    const available = shownCredits(spendable(books));
    ledger.tell({ type: 'AutomaticTopUpStopped', ...occasion, day, limit, available });
    return;
  }
  const automatic = { ...occasion, day, number };
  const reason = isInvoiced ? invoiced : 'PURCHASED_CREDIT_DIRECT';
  const wanted: Load = { reason, credits, amount: null, priority: null, expires: null };
  if (isInvoiced) order(ledger, wanted, at, automatic);
  else ledger.load(wanted, at, automatic);
  Object.assign(books, { day, count: number, stoppedOn: null });
}

const isLow = (books: Books): boolean =>
  books.autoTopUp !== null && spendable(books) <= books.autoTopUp.threshold;

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** The start of the day after the breaker, where what it stopped is still wanted; else null. A debit on its way looks itself. */
export function resumption(books: Books): number | null {
  const { stoppedOn, orders, holds, status } = books;
  const isWaiting = orders.some(({ automatic }) => automatic) || holds.some((hold) => hold.isShare);
  if (stoppedOn === null || status !== 'active' || isWaiting || !isLow(books)) return null;
  return Date.parse(`${stoppedOn}T23:59:59.999Z`) + 1;
}

/** Tells whether the breaker has stopped on an earlier day what is still wanted. */
export function isResumed({ books }: ReferenceLedger, at: number): boolean {
  const from = resumption(books);
  return from !== null && from <= at;
}

/** Settings of automatic top-up as the wallet keeps them: what is not said is an order, to be paid for (D72). */
export const keptAutoTopUp = (given: AutoTopUpBody | null): AutoTopUpBody | null =>
  given && { ...given, invoicing: given.invoicing ?? true };

/** The settings of automatic top-up; null when it is off. */
export function autoTopUpOf(settings: AutoTopUpBody | null): AutoTopUp | null {
  if (!settings?.enabled) return null;
  return {
    amount: creditsOf(settings.amount),
    threshold: creditsOf(settings.threshold),
    isInvoiced: settings.invoicing !== false,
    limit: settings.daily_limit ?? usualLimit,
  };
}
