import {
  aggregate,
  createdStamps,
  type DecimalText,
  existing,
  type Instant,
  type RecordStamps,
  type RecordStatus,
  type Stamped,
  updatedStamps,
  type WalletId,
  withChanges,
  zeroText,
} from '@counterfoil/kernel';
import type { PaymentStatus } from '../invoices/index.ts';
import {
  type PaymentDebit,
  type PaymentEvent,
  type PaymentEventData,
  paymentEvents,
} from './events.ts';

/** An attempt that a provider was to be asked for, with what has become of it. */
export interface PaymentAttempt extends PaymentEventData<'PaymentAttemptStarted'> {
  readonly started_at: Instant;
  readonly payment_status: 'PROCESSING' | 'SUCCEEDED' | 'FAILED';
  readonly error_message: string | null;
  /** Its name at the provider; null before it is prepared. */
  readonly reference: string | null;
  readonly url: string | null;
  /** The reason for which nothing is to come of it any more; null: nobody said so. */
  readonly cancelled: string | null;
}

/** A refund through a provider, with what has become of it. `REQUESTED`: the invoice has not given the money yet. */
export interface PaymentRefund extends PaymentEventData<'RefundStarted'> {
  readonly started_at: Instant;
  readonly refund_status: 'REQUESTED' | 'PROCESSING' | 'SUCCEEDED' | 'FAILED';
  readonly gateway_refund_id: string | null;
  readonly error_message: string | null;
}

/** The states of a payment. `OVERPAID` is one of invoices: what a payment brings too much is not the payment's state. */
export type OwnStatus = Exclude<PaymentStatus, 'OVERPAID'>;

/** Money that a customer pays for an invoice, or into the account. */
export interface Payment extends RecordStamps, PaymentEventData<'PaymentCreated'> {
  readonly status: RecordStatus;
  readonly payment_status: OwnStatus;
  readonly attempts: readonly PaymentAttempt[];
  readonly refunds: readonly PaymentRefund[];
  /** The charge at a provider that has brought the money, for refunds. */
  readonly charge: { readonly provider: string; readonly gateway_payment_id: string } | null;
  /** The number of times that a provider was asked by itself about what is under way, and the last of them; null: nothing was ever sent. */
  readonly questions: { readonly times: number; readonly at: Instant } | null;
  readonly debit: PaymentDebit | null;
  /** All that went back to the payer. */
  readonly returned: DecimalText;
  /** Money of which its invoice is being asked whether it can go back; null: none. */
  readonly asked: PaymentEventData<'ReturnAsked'> | null;
  /** True where its invoice had nothing left of it the last time. */
  readonly is_refused: boolean;
  /** Null before the money has reached anybody. */
  readonly applied: PaymentEventData<'PaymentApplied'> | null;
  /** Wallets that were chosen for what is left for the customer, in their order. */
  readonly wallets: readonly WalletId[];
  readonly succeeded_at: Instant | null;
  readonly failed_at: Instant | null;
  readonly refunded_at: Instant | null;
  readonly voided_at: Instant | null;
}

/** Null before it is created. */
export type PaymentState = Payment | null;

function evolve(state: PaymentState, event: Stamped<PaymentEvent>): PaymentState {
  if (event.type === 'PaymentCreated') {
    return {
      ...event.data,
      ...createdStamps(event.stamp),
      status: 'published',
      payment_status: 'INITIATED',
      attempts: [],
      refunds: [],
      charge: null,
      questions: null,
      debit: null,
      returned: zeroText,
      asked: null,
      is_refused: false,
      applied: null,
      wallets: [],
      succeeded_at: null,
      failed_at: null,
      refunded_at: null,
      voided_at: null,
    };
  }
  const before = existing(state, 'payment');
  return after({ ...before, ...updatedStamps(event.stamp) }, event);
}

function after(
  payment: Payment,
  event: Exclude<Stamped<PaymentEvent>, { type: 'PaymentCreated' }>,
): Payment {
  switch (event.type) {
    case 'PaymentChanged':
      return withChanges<Payment>(payment, event.data);
    case 'PaymentStarted':
      return { ...payment, payment_status: event.data.payment_status };
    case 'PaymentAttemptStarted': {
      const { occurred_at: started_at } = event.stamp;
      const attempt: PaymentAttempt = { ...event.data, started_at, ...beginning };
      return {
        ...payment,
        payment_gateway: event.data.provider,
        attempts: [...payment.attempts, attempt],
        questions: { times: 0, at: started_at },
      };
    }
    case 'PaymentAttemptPrepared': {
      const { reference, url } = event.data;
      return withLastAttempt(payment, { reference, url });
    }
    case 'PaymentCancelled':
      return withLastAttempt(payment, { cancelled: event.data.reason });
    case 'ProviderAsked': {
      const { occurred_at: at } = event.stamp;
      return { ...payment, questions: { times: event.data.times, at } };
    }
    case 'PaymentSucceeded': {
      const { succeeded_at, debit, gateway_payment_id } = event.data;
      return {
        ...withLastAttempt(payment, { payment_status: 'SUCCEEDED', error_message: null }),
        // Money that comes by a payment which was given up, and deleted, is there all the same.
        status: 'published',
        payment_status: 'SUCCEEDED',
        failed_at: null,
        gateway_payment_id: gateway_payment_id ?? payment.gateway_payment_id,
        charge: chargeOf(payment, gateway_payment_id),
        error_message: null,
        succeeded_at,
        debit,
      };
    }
    case 'PaymentFailed': {
      const { failed_at, error_message, is_given_up } = event.data;
      const told = { payment_status: 'FAILED', error_message } as const;
      return {
        ...(is_given_up ? payment : withLastAttempt(payment, told)),
        payment_status: 'FAILED',
        failed_at,
        error_message,
      };
    }
    case 'ReturnAsked':
      return { ...payment, asked: event.data, is_refused: false };
    case 'ReturnRefused':
      return { ...payment, asked: null, is_refused: true };
    case 'PaymentReturned': {
      const { payment_status, returned, at } = event.data;
      const instant = payment_status === 'VOIDED' ? { voided_at: at } : { refunded_at: at };
      return { ...payment, payment_status, returned, ...instant, asked: null };
    }
    case 'RefundStarted':
    case 'RefundCommitted':
    case 'RefundSucceeded':
    case 'RefundFailed':
      return afterRefund(payment, event);
    case 'PaymentApplied':
      return { ...payment, applied: event.data };
    case 'WalletChosen':
      return { ...payment, wallets: [...payment.wallets, event.data.wallet_id] };
    case 'PaymentDeleted':
      return { ...payment, status: 'deleted' };
    default:
      return event satisfies never;
  }
}

/** An attempt of which nothing is known yet. */
const beginning = {
  payment_status: 'PROCESSING',
  error_message: null,
  reference: null,
  url: null,
  cancelled: null,
} as const;

const withLastAttempt = (payment: Payment, news: Partial<PaymentAttempt>): Payment => {
  const last = payment.attempts.at(-1);
  if (!last) return payment;
  return { ...payment, attempts: [...payment.attempts.slice(0, -1), { ...last, ...news }] };
};

const chargeOf = (
  { attempts, payment_gateway }: Payment,
  gateway_payment_id: string | null,
): Payment['charge'] => {
  const provider = attempts.at(-1)?.provider ?? payment_gateway;
  return provider === null || gateway_payment_id === null ? null : { provider, gateway_payment_id };
};

function afterRefund(
  payment: Payment,
  { type, data, stamp }: Extract<Stamped<PaymentEvent>, { type: `Refund${string}` }>,
): Payment {
  const at = stamp.occurred_at;
  const withNews = (news: Partial<PaymentRefund>): Payment => ({
    ...payment,
    refunds: payment.refunds.map((refund) =>
      refund.refund_id === data.refund_id ? { ...refund, ...news } : refund,
    ),
  });
  switch (type) {
    case 'RefundStarted': {
      const unknown = { refund_status: 'REQUESTED', gateway_refund_id: null } as const;
      const refund: PaymentRefund = { ...data, started_at: at, ...unknown, error_message: null };
      return { ...payment, refunds: [...payment.refunds, refund] };
    }
    case 'RefundCommitted':
      return { ...withNews({ refund_status: 'PROCESSING' }), questions: { times: 0, at } };
    case 'RefundSucceeded': {
      const { gateway_refund_id } = data;
      return withNews({ refund_status: 'SUCCEEDED', gateway_refund_id });
    }
    case 'RefundFailed':
      return withNews({ refund_status: 'FAILED', error_message: data.error_message });
    default:
      return type satisfies never;
  }
}

/** Payments, one stream for each: what becomes of its money is decided there, and told to what it pays for. */
export const payment = aggregate({
  name: 'payment',
  scope: 'environment',
  events: paymentEvents,
  initial: null as PaymentState,
  evolve,
});

/** Tells whether the payment has neither succeeded nor failed. */
export const isOpen = ({ payment_status }: Pick<Payment, 'payment_status'>): boolean =>
  payment_status === 'INITIATED' || payment_status === 'PENDING' || payment_status === 'PROCESSING';

/**
 * The attempt that a provider has under way, also of a payment that a caller has given up before its end was known; null where
 * there is none.
 */
export function attemptUnderWay(payment: Payment): PaymentAttempt | null {
  const last = payment.attempts.at(-1);
  const isWithoutMoney = isOpen(payment) || payment.payment_status === 'FAILED';
  return last?.payment_status === 'PROCESSING' && isWithoutMoney ? last : null;
}

/** The refund that has begun and has not ended; null where there is none. There is one at a time. */
export const refundUnderWay = ({ refunds }: Pick<Payment, 'refunds'>): PaymentRefund | null =>
  refunds.find(
    ({ refund_status }) => refund_status === 'REQUESTED' || refund_status === 'PROCESSING',
  ) ?? null;
