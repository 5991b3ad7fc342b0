import {
  type Decimal,
  type DecimalText,
  type Decision,
  decimal,
  digitsFault,
  divide,
  existing,
  type Instant,
  invalidField,
  invalidOperation,
  invariant,
  minorUnits,
  Problem,
  smaller,
  type TransactionId,
  textOf,
  zero,
} from '@counterfoil/kernel';
import type { PaymentEvent, PaymentEventData } from './events.ts';
import type { Payment, PaymentState } from './payment.ts';

/*
 * Money that goes back to who has paid. Whether it still can is decided by the stream of the invoice, which a void and credit
 * notes ask as well: the payment asks it, and notes the answer.
 */

type ReturnDecision = Decision<PaymentState, PaymentEvent>;

/**
 * All the money that can have gone back to the payer. What the invoice did not need, what was paid into the account, and what a void
 * or a credit note has given to the customer since, are credits by now: who got both would have them twice. Throws 400 where
 * nothing is left, and 503 before it is known what the invoice needs.
 */
export function returnable(
  { id, amount, applied, returned }: Payment,
  left: DecimalText | null,
): DecimalText {
  if (applied === null)
    throw onItsWay(`The money of payment ${id} is on its way to what it pays for.`);
  const taken = decimal(applied.to_destination);
  const most = left === null ? taken : smaller(taken, decimal(returned).plus(decimal(left)));
  if (most.cmp(decimal(returned)) > 0) return textOf(most);
  throw isCredits({ id, amount });
}

/** The refusal of money that went to the customer as credits. */
export const isCredits = ({ id, amount }: Pick<Payment, 'id' | 'amount'>): Problem =>
  invalidOperation(
    `The money of payment ${id} that did not go back is credits of the customer. Take them by a debit, and pay it back by other ways.`,
    { reason: 'payment_state', excess_amount: amount },
  );

export const onItsWay = (what: string): Problem =>
  new Problem('service_unavailable', `${what} Send the request again.`, { retryAfterSeconds: 1 });

export function assertPart(
  payment: Payment,
  refunded: DecimalText,
  left: DecimalText | null,
): void {
  const { returned, currency } = payment;
  const fault = digitsFault(refunded, currency);
  if (fault) throw invalidField('/refunded_amount', fault);
  const most = returnable(payment, left);
  const isMore = decimal(refunded).cmp(decimal(returned)) > 0;
  if (isMore && decimal(refunded).cmp(decimal(most)) < 0) return;
  throw invalidField(
    '/refunded_amount',
    `must be more than ${returned}, which went back before, and less than ${most}`,
  );
}

type ReturnedStatus = PaymentEventData<'ReturnAsked'>['payment_status'];

/** Asks the invoice for money that goes back. Asked for already, no event; throws 503 while other money of it is asked for. */
export function askReturn(
  payment: Payment,
  payment_status: ReturnedStatus,
  returned: DecimalText,
  at: Instant,
): readonly PaymentEvent[] {
  const { asked: before } = payment;
  if (before === null) {
    return [{ type: 'ReturnAsked', data: { payment_status, returned, at, reversal_id: null } }];
  }
  if (before.payment_status === payment_status && before.returned === returned) return [];
  throw onItsWay(`Money of payment ${payment.id} is going back.`);
}

/** Credits that a wallet has taken back of what it has paid. */
export interface ReversedPayment {
  readonly reversal_id: TransactionId;
  /** The entry that was reversed. */
  readonly transaction_id: TransactionId;
  readonly credits: DecimalText;
  /** All credits of the entry that are reversed by then. */
  readonly reversed: DecimalText;
}

/**
 * Asks the invoice for the money of credits that went back to the wallet by themselves, so that it is owed again (D74). No event
 * for an entry that the payment does not stand on, and for one whose money is all gone back. Throws while other money of it
 * is asked for, and before it has reached its invoice: it is tried again.
 */
export const returnReversed =
  ({ reversal_id, transaction_id, credits, reversed }: ReversedPayment): ReturnDecision =>
  (state, at) => {
    const payment = existing(state, 'payment');
    const { debit, payment_status: status, applied, asked: before } = payment;
    if (debit?.transaction_id !== transaction_id) return [];
    if (status !== 'SUCCEEDED' && status !== 'PARTIALLY_REFUNDED') return [];
    if (applied === null || before !== null) throw onItsWay(`Payment ${payment.id} is on its way.`);
    const earlier = textOf(decimal(reversed).minus(decimal(credits)));
    const amount = moneyUpTo(payment, reversed).minus(moneyUpTo(payment, earlier));
    if (amount.cmp(zero) <= 0) return [];
    const returned = textOf(decimal(payment.returned).plus(amount));
    const payment_status = 'PARTIALLY_REFUNDED';
    return [{ type: 'ReturnAsked', data: { payment_status, returned, at, reversal_id } }];
  };

/** The money that the first credits of a payment have paid, as its currency can: of all of them all. */
function moneyUpTo({ amount, debit, currency }: Payment, credits: DecimalText): Decimal {
  invariant(debit, 'no wallet has paid');
  if (decimal(credits).cmp(decimal(debit.credits)) >= 0) return decimal(amount);
  const exact = divide(
    decimal(amount).times(decimal(credits)),
    decimal(debit.credits),
    creditPlaces,
  );
  return exact.round(minorUnits(currency), 1);
}

/**
 * Ends what was asked of the invoice: what went back by then has, or nothing has. No event where nothing is asked for.
 *
 * @param returned all of the payment that the invoice counts as gone back
 */
export const endReturn =
  (returned: DecimalText): ReturnDecision =>
  (state) => {
    const payment = existing(state, 'payment');
    if (payment.asked === null) return [];
    const amount = decimal(returned).minus(decimal(payment.returned));
    if (amount.cmp(zero) <= 0) return [{ type: 'ReturnRefused', data: {} }];
    const isAll = returned === payment.applied?.to_destination;
    const { at, reversal_id, payment_status: status } = payment.asked;
    const payment_status = reversal_id !== null && isAll ? 'REFUNDED' : status;
    const data = { payment_status, returned, amount: textOf(amount), at, reversal_id };
    return [{ type: 'PaymentReturned', data }];
  };

const creditPlaces = 9;

/**
 * The credits that go back to the wallet with a part of what it has paid, after `before` of it: its share of them, so that
 * all parts together are all of its credits.
 */
export function creditsReturned(
  { amount, debit }: Pick<Payment, 'amount' | 'debit'>,
  before: DecimalText,
  part: DecimalText,
): DecimalText {
  invariant(debit, 'no wallet has paid');
  const upTo = (money: Decimal): Decimal =>
    money.cmp(decimal(amount)) >= 0
      ? decimal(debit.credits)
      : divide(decimal(debit.credits).times(money), decimal(amount), creditPlaces);
  const start = decimal(before);
  return textOf(upTo(start.plus(decimal(part))).minus(upTo(start)));
}
