import {
  type Changes,
  changedFields,
  type DecimalText,
  type Decision,
  decimal,
  existing,
  type Instant,
  invalidField,
  invalidOperation,
  invariant,
  isEmpty,
  notFound,
  type PaymentAttemptId,
  textOf,
  withChanges,
} from '@counterfoil/kernel';
import type { PaymentMethod } from '../invoices/index.ts';
import { askedNow } from './asking.ts';
import type { PaymentEvent, PaymentEventData } from './events.ts';
import {
  attemptUnderWay,
  isOpen,
  type OwnStatus,
  type Payment,
  type PaymentState,
  refundUnderWay,
} from './payment.ts';
import { askReturn, assertPart, returnable } from './returns.ts';

export type PaymentDecision = Decision<PaymentState, PaymentEvent>;
export type NewPayment = PaymentEventData<'PaymentCreated'>;

/** The provider that a payment is to be asked of. */
export interface AskedProvider {
  readonly name: string;
  readonly attemptId: PaymentAttemptId;
}

/** Creates a payment. It waits until it is processed. */
export const createPayment =
  (data: NewPayment): PaymentDecision =>
  (state) => {
    invariant(state === null, `payment ${data.id} is created twice`);
    return [{ type: 'PaymentCreated', data }];
  };

/** Creates a payment and begins with it at once. */
export const createAndProcess =
  (data: NewPayment, provider: AskedProvider | null): PaymentDecision =>
  (state, at) => [...createPayment(data)(state, at), ...begun(data, [], provider, at)];

/**
 * Begins with a payment that waits. Of one that a provider has under way the provider is asked at once; else on its way already,
 * no event. Throws 400 for one that has ended.
 */
export const processPayment =
  (id: string, provider: AskedProvider | null): PaymentDecision =>
  (state, at) => {
    const payment = readable(state, id);
    // A payment page that waits to be used can take the money: a second one could take it again.
    if (attemptUnderWay(payment)) return [askedNow(payment)];
    if (payment.payment_status === 'PROCESSING') return [];
    if (isOpen(payment)) return begun(payment, payment.attempts, provider, at);
    throw ended(payment, 'be processed');
  };

/** Methods of which a provider takes the money. */
export const isProvided = (method: PaymentMethod): boolean =>
  method !== 'OFFLINE' && method !== 'CREDITS';

/** Money that came by hand is there; a wallet and a provider are asked by a reaction to this. */
function begun(
  { id, payment_method_type: method }: Pick<NewPayment, 'id' | 'payment_method_type'>,
  attempts: Payment['attempts'],
  provider: AskedProvider | null,
  at: Instant,
): readonly PaymentEvent[] {
  if (method === 'OFFLINE') return [succeeded(at, null, null)];
  const started: PaymentEvent = {
    type: 'PaymentStarted',
    data: { payment_status: method === 'PAYMENT_LINK' ? 'PENDING' : 'PROCESSING' },
  };
  if (method === 'CREDITS') return [started];
  invariant(provider, `${id}: no provider takes ${method}`);
  const { attemptId: attempt_id, name } = provider;
  const number = attempts.length + 1;
  const attempt = { attempt_id, number, provider: name, provider_key: `${id}-${number}` };
  return [started, { type: 'PaymentAttemptStarted', data: attempt }];
}

const succeeded = (
  succeeded_at: Instant,
  debit: PaymentEventData<'PaymentSucceeded'>['debit'],
  gateway_payment_id: string | null,
): PaymentEvent => ({
  type: 'PaymentSucceeded',
  data: { succeeded_at, debit, gateway_payment_id },
});

/**
 * Ends a payment whose money has come. One that was given up, or had failed before, has succeeded all the same: money that was
 * taken is never lost. No event for one whose money had come.
 */
export const succeedPayment =
  ({
    debit = null,
    gateway_payment_id = null,
  }: Partial<Omit<PaymentEventData<'PaymentSucceeded'>, 'succeeded_at'>>): PaymentDecision =>
  (state, at) => {
    const payment = existing(state, 'payment');
    const isWithoutMoney = isOpen(payment) || payment.payment_status === 'FAILED';
    return isWithoutMoney ? [succeeded(at, debit, gateway_payment_id)] : [];
  };

/** Ends a payment of which no money comes. No event for one that has ended. */
export const failPayment =
  (error_message: string): PaymentDecision =>
  (state, at) =>
    isOpen(existing(state, 'payment'))
      ? [{ type: 'PaymentFailed', data: { failed_at: at, error_message, is_given_up: false } }]
      : [];

/** Notes what became of the money, once. */
export const applyPayment =
  (excess: DecimalText): PaymentDecision =>
  (state) => {
    const { amount, applied } = existing(state, 'payment');
    if (applied !== null) return [];
    const to_destination = textOf(decimal(amount).minus(decimal(excess)));
    return [{ type: 'PaymentApplied', data: { to_destination, to_customer: excess } }];
  };

/** Remembers a wallet for what is left for the customer. Chosen before, no event. */
export const chooseWallet =
  (wallet_id: PaymentEventData<'WalletChosen'>['wallet_id']): PaymentDecision =>
  (state) =>
    existing(state, 'payment').wallets.includes(wallet_id)
      ? []
      : [{ type: 'WalletChosen', data: { wallet_id } }];

/** The states that a payment may go to from each (E 16). */
const successors: Readonly<Record<OwnStatus, readonly OwnStatus[]>> = {
  INITIATED: ['PENDING', 'PROCESSING', 'SUCCEEDED', 'FAILED'],
  PENDING: ['PROCESSING', 'SUCCEEDED', 'FAILED'],
  PROCESSING: ['SUCCEEDED', 'FAILED'],
  SUCCEEDED: ['REFUNDED', 'PARTIALLY_REFUNDED', 'VOIDED'],
  PARTIALLY_REFUNDED: ['REFUNDED'],
  FAILED: [],
  REFUNDED: [],
  VOIDED: [],
};

/** A change as a caller asks for it. */
export interface PaymentChange {
  readonly fields: Changes<PaymentEventData<'PaymentChanged'>>;
  readonly payment_status: OwnStatus | null;
  /** The instant of the state, where it is not that of the request. */
  readonly at: Instant | null;
  /** All that went back by then, for a payment that is refunded in part. */
  readonly refunded_amount: DecimalText | null;
}

/**
 * Changes fields of a payment, and its state as its machine allows (E 16). Throws 400 for another state, and for one that
 * a wallet decides. Nothing new, no event.
 *
 * @param left the money of the payment that its invoice still has; null: nobody has taken any of it since
 */
export const changePayment =
  (
    id: string,
    { fields, payment_status, at: instant, refunded_amount }: PaymentChange,
    left: DecimalText | null = null,
  ): PaymentDecision =>
  (state, at) => {
    const payment = readable(state, id);
    const data = changedFields<PaymentEventData<'PaymentChanged'>>(
      payment,
      fields,
    ) as PaymentEventData<'PaymentChanged'>;
    const changed: PaymentEvent[] = isEmpty(data) ? [] : [{ type: 'PaymentChanged', data }];
    const isNew = refunded_amount !== null && refunded_amount !== payment.returned;
    const isMore = payment_status === 'PARTIALLY_REFUNDED' && isNew;
    if (payment_status === null || (payment_status === payment.payment_status && !isMore)) {
      return changed;
    }
    assertTransition(payment, payment_status, isMore);
    const after = withChanges<Payment>(payment, data);
    const next = transition(after, payment_status, instant ?? at, refunded_amount, left);
    return [...changed, ...next];
  };

function assertTransition(payment: Payment, to: OwnStatus, isMore: boolean): void {
  const { id, payment_status: from } = payment;
  const isSame = from === to && isMore;
  if (!isSame && !successors[from].includes(to)) {
    throw invalidOperation(`Payment ${id} is ${from} and cannot become ${to}.`, {
      reason: 'payment_state',
      payment_status: from,
      allowed: successors[from],
    });
  }
  assertNobodyElseDecides(payment, to);
}

/** Throws 400 where a wallet or a provider decides what becomes of the payment. */
function assertNobodyElseDecides(payment: Payment, to: OwnStatus): void {
  const { id, payment_status, payment_method_type } = payment;
  const details = { reason: 'payment_state', payment_status } as const;
  const isOwn = payment_method_type === 'CREDITS' && isOpen(payment);
  if (isOwn && !(to === 'FAILED' && payment_status === 'INITIATED')) {
    const message = `Payment ${id} is paid by a wallet, which decides what becomes of it. Process it instead.`;
    throw invalidOperation(message, details);
  }
  const attempt = attemptUnderWay(payment);
  // Who has cancelled it and cannot wait for the provider may give it up: money that comes all the same is recorded.
  const isGivenUp = to === 'FAILED' && attempt?.cancelled != null;
  if (attempt && !isGivenUp) {
    const message = `Payment ${id} is under way at ${attempt.provider}, which decides what becomes of it. Process it to ask, or cancel it.`;
    throw invalidOperation(message, details);
  }
  assertNoRefundUnderWay(payment);
}

/** Throws 400 while money goes back through the provider: who told of more meanwhile would count it twice. */
export function assertNoRefundUnderWay(payment: Payment): void {
  const refund = refundUnderWay(payment);
  if (!refund) return;
  const { id, payment_status } = payment;
  const message = `Refund ${refund.refund_id} of payment ${id} is under way. Wait for its end.`;
  throw invalidOperation(message, { reason: 'payment_state', payment_status });
}

function transition(
  payment: Payment,
  to: OwnStatus,
  at: Instant,
  refunded: DecimalText | null,
  left: DecimalText | null,
): readonly PaymentEvent[] {
  switch (to) {
    case 'PENDING':
    case 'PROCESSING':
      return [{ type: 'PaymentStarted', data: { payment_status: to } }];
    case 'SUCCEEDED':
      return [succeeded(at, null, null)];
    case 'FAILED': {
      const { error_message } = payment;
      return [{ type: 'PaymentFailed', data: { failed_at: at, error_message, is_given_up: true } }];
    }
    case 'REFUNDED':
    case 'VOIDED':
      return askReturn(payment, to, returnable(payment, left), at);
    case 'PARTIALLY_REFUNDED': {
      if (refunded === null) {
        throw invalidField('/refunded_amount', 'is required with PARTIALLY_REFUNDED');
      }
      assertPart(payment, refunded, left);
      return askReturn(payment, to, refunded, at);
    }
    case 'INITIATED':
      return [];
    default:
      return to satisfies never;
  }
}

/** Removes a payment of which nothing has come and nothing will. Throws 400 for another (E 16). */
export const deletePayment =
  (id: string): PaymentDecision =>
  (state, at) => {
    const payment = readable(state, id);
    const { payment_status } = payment;
    if (payment_status !== 'INITIATED' && payment_status !== 'FAILED')
      throw ended(payment, 'be deleted');
    return [{ type: 'PaymentDeleted', data: { deleted_at: at } }];
  };

/** The payment, unless there is none or it is deleted. Throws 404. */
export function readable(state: PaymentState, id: string): Payment {
  if (!state || state.status === 'deleted') throw notFound('payment', id);
  return state;
}

export const ended = ({ id, payment_status }: Payment, purpose: string) =>
  invalidOperation(`Payment ${id} is ${payment_status} and cannot ${purpose}.`, {
    reason: 'payment_state',
    payment_status,
  });
