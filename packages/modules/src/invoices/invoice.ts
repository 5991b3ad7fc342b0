import {
  aggregate,
  createdStamps,
  type DecimalText,
  decimal,
  existing,
  type Instant,
  type InvoiceId,
  type RecordStamps,
  type Stamped,
  textOf,
  updatedStamps,
  type WalletId,
  withChanges,
  zero,
  zeroText,
} from '@counterfoil/kernel';
import {
  type FinalizationPlan,
  type InvoiceEvent,
  type InvoiceEventData,
  type InvoiceFigures,
  invoiceEvents,
  type TakenCredits,
} from './events.ts';
import type { InvoiceStatus, PaymentStatus } from './values.ts';

/** A credit note that counts for an invoice: it lowers what is owed, or gives back what was paid. */
export type AppliedNote =
  | ({ readonly kind: 'ADJUSTMENT' } & InvoiceEventData<'InvoiceAdjusted'>)
  | ({ readonly kind: 'REFUND' } & InvoiceEventData<'InvoiceRefunded'>);

/** A payment with what has come by it, and what of that went back. */
export interface InvoicePayment extends InvoiceEventData<'PaymentSettled'> {
  readonly returned: DecimalText;
}

/** A failed attempt to learn the taxes of an invoice (ADR 59). */
export interface TaxFailure extends InvoiceEventData<'TaxesNotCalculated'> {
  readonly at: Instant;
  /** Attempts that have failed one after the other. */
  readonly times: number;
}

/** A debt of one customer, from the draft to the last payment. */
export interface Invoice
  extends RecordStamps,
    InvoiceFigures,
    Omit<InvoiceEventData<'InvoiceDrafted'>, 'id'> {
  readonly id: InvoiceId;
  readonly invoice_status: InvoiceStatus;
  /** True from the moment at which it is being made final until it is. */
  readonly is_finalizing: boolean;
  readonly invoice_number: string | null;
  /** The position of the log up to which usage counts. */
  readonly position: string | null;
  /** The decisions about the rest of its finalisation; null before. */
  readonly plan: FinalizationPlan | null;
  readonly taken: readonly TakenCredits[];
  /** The wallets that were chosen for money which goes back, in their order. */
  readonly wallets: readonly WalletId[];
  readonly payments: readonly InvoicePayment[];
  readonly notes: readonly AppliedNote[];
  /** The parts that settlements gave back to a wallet of the customer. */
  readonly given_back: readonly InvoiceEventData<'ChargesGivenBack'>[];
  /** The end of the purchase that it bills; null before, and for others. */
  readonly purchase: InvoiceEventData<'PurchaseEnded'>['end'] | null;
  /** The last that is known of a payment that has not come. */
  readonly noted: 'INITIATED' | 'PENDING' | 'PROCESSING' | 'FAILED' | null;
  /** The last attempt to learn its taxes, where that has failed; null: they are known, or nobody has asked. */
  readonly tax_failure: TaxFailure | null;
  readonly last_computed_at: Instant | null;
  readonly finalized_at: Instant | null;
  readonly paid_at: Instant | null;
  readonly voided_at: Instant | null;
  readonly overdue_at: Instant | null;
  /** The instant at which its subscription ends unless it is paid by then; null: never because of it. */
  readonly ends_subscription_at: Instant | null;
  readonly recalculated_invoice_id: InvoiceId | null;
  /** Grows with every change. */
  readonly version: number;
}

/** Null before it is drafted. */
export type InvoiceState = Invoice | null;

const noFigures: InvoiceFigures = {
  lines: [],
  coupons: [],
  taxes: [],
  tax_exemption: null,
  subtotal: zeroText,
  total_discount: zeroText,
  total_credits: zeroText,
  total_tax: zeroText,
  total: zeroText,
};

function evolve(state: InvoiceState, event: Stamped<InvoiceEvent>): InvoiceState {
  if (event.type === 'InvoiceDrafted') {
    return {
      ...event.data,
      ...noFigures,
      ...createdStamps(event.stamp),
      invoice_status: 'DRAFT',
      is_finalizing: false,
      invoice_number: null,
      position: null,
      plan: null,
      taken: [],
      wallets: [],
      payments: [],
      notes: [],
      given_back: [],
      purchase: null,
      noted: null,
      tax_failure: null,
      last_computed_at: null,
      finalized_at: null,
      paid_at: null,
      voided_at: null,
      overdue_at: null,
      ends_subscription_at: null,
      recalculated_invoice_id: null,
      version: 1,
    };
  }
  const before = existing(state, 'invoice');
  const stamped = { ...before, ...updatedStamps(event.stamp), version: before.version + 1 };
  return after(stamped, event);
}

function after(
  invoice: Invoice,
  event: Exclude<Stamped<InvoiceEvent>, { type: 'InvoiceDrafted' }>,
): Invoice {
  const at = event.stamp.occurred_at;
  switch (event.type) {
    case 'InvoiceComputed':
      return { ...invoice, ...event.data, tax_failure: null, last_computed_at: at };
    case 'TaxesNotCalculated': {
      const times = (invoice.tax_failure?.times ?? 0) + 1;
      return {
        ...invoice,
        is_finalizing: false,
        finalizes_at: event.data.retries_at ?? invoice.finalizes_at,
        tax_failure: { ...event.data, at, times },
      };
    }
    case 'FinalizationStarted':
      return { ...invoice, is_finalizing: true };
    case 'InvoiceFinalized':
      return paidWhenNothingIsLeft(
        {
          ...invoice,
          ...event.data,
          is_finalizing: false,
          invoice_status: 'FINALIZED',
          last_computed_at: at,
          finalized_at: at,
        },
        at,
      );
    case 'InvoiceSkipped':
      return {
        ...invoice,
        ...event.data,
        is_finalizing: false,
        invoice_status: 'SKIPPED',
        last_computed_at: at,
      };
    case 'InvoiceChanged':
      return withChanges<Invoice>(invoice, event.data.changes);
    case 'PaymentSettled': {
      const payments = [...invoice.payments, { ...event.data, returned: zeroText }];
      return paidWhenNothingIsLeft({ ...invoice, payments, noted: null }, at);
    }
    case 'PaymentReturned': {
      const payments = invoice.payments.map((payment) =>
        payment.payment_id === event.data.payment_id
          ? { ...payment, returned: sum([payment.returned, event.data.amount]) }
          : payment,
      );
      return { ...invoice, payments, paid_at: null };
    }
    case 'PaymentNoted':
      return { ...invoice, noted: event.data.payment_status };
    case 'InvoiceAdjusted':
      return paidWhenNothingIsLeft(
        { ...invoice, notes: [...invoice.notes, { ...event.data, kind: 'ADJUSTMENT' }] },
        at,
      );
    case 'InvoiceRefunded':
      return { ...invoice, notes: [...invoice.notes, { ...event.data, kind: 'REFUND' }] };
    case 'ChargesGivenBack':
      return { ...invoice, given_back: [...invoice.given_back, event.data] };
    case 'AdjustmentReversed':
      return {
        ...invoice,
        paid_at: null,
        notes: invoice.notes.filter(
          ({ credit_note_id }) => credit_note_id !== event.data.credit_note_id,
        ),
      };
    case 'PurchaseEnded':
      return { ...invoice, purchase: event.data.end };
    case 'FellOverdue':
      return {
        ...invoice,
        overdue_at: event.data.at,
        ends_subscription_at: event.data.ends_subscription_at,
      };
    case 'SubscriptionEnded':
      return { ...invoice, ends_subscription_at: null };
    case 'CommunicationTriggered':
    case 'MessageRequested':
      return invoice;
    case 'InvoiceVoided':
      return { ...invoice, is_finalizing: false, invoice_status: 'VOIDED', voided_at: at };
    case 'WalletChosen':
      return { ...invoice, wallets: [...invoice.wallets, event.data.wallet_id] };
    case 'InvoiceReplaced':
      return { ...invoice, recalculated_invoice_id: event.data.by };
    default:
      return event satisfies never;
  }
}

/** Notes the instant at which the last of what is owed was paid or credited. */
const paidWhenNothingIsLeft = (invoice: Invoice, at: Instant): Invoice =>
  invoice.invoice_status === 'FINALIZED' && amountsOf(invoice).amount_remaining === '0'
    ? { ...invoice, paid_at: invoice.paid_at ?? at }
    : invoice;

/** The amounts that follow from an invoice's figures, payments and credit notes: derived in this one place. */
export interface InvoiceAmounts {
  readonly amount_due: DecimalText;
  readonly amount_paid: DecimalText;
  readonly amount_remaining: DecimalText;
  readonly overpaid_amount: DecimalText;
  readonly adjustment_amount: DecimalText;
  readonly refunded_amount: DecimalText;
}

/**
/**
 * `amount_due` is the total less adjustments; what was paid and went back counts as not paid (E 15.7 B, D59). What was
 * paid beyond what was owed is with the customer, and pays nothing of it (D60). Of an invoice that is void nothing
 * remains to be paid.
 */
export function amountsOf({ total, payments, notes, invoice_status }: Invoice): InvoiceAmounts {
  const ofKind = (kind: AppliedNote['kind']): DecimalText =>
    sum(notes.flatMap((note) => (note.kind === kind ? [note.amount] : [])));
  const adjustment_amount = ofKind('ADJUSTMENT');
  const due = decimal(total).minus(decimal(adjustment_amount));
  const paid = payments.reduce(
    (all, { amount, returned }) => all.plus(decimal(amount)).minus(decimal(returned)),
    zero,
  );
  const overpaid_amount = sum(payments.map(({ excess }) => excess));
  const left = invoice_status === 'VOIDED' ? zero : due.minus(paid).plus(decimal(overpaid_amount));
  return {
    amount_due: textOf(due),
    amount_paid: textOf(paid),
    amount_remaining: textOf(left.cmp(zero) > 0 ? left : zero),
    overpaid_amount,
    adjustment_amount,
    refunded_amount: ofKind('REFUND'),
  };
}

/** The payment status, which follows from everything else (E 16 B). */
export function paymentStatusOf(invoice: Invoice): PaymentStatus {
  const { amount_remaining, overpaid_amount, amount_paid, refunded_amount } = amountsOf(invoice);
  if (invoice.invoice_status === 'VOIDED') {
    const isFunded = amount_paid !== '0' || invoice.taken.length > 0;
    return isFunded ? 'REFUNDED' : (invoice.noted ?? 'PENDING');
  }
  if (invoice.notes.some(({ kind }) => kind === 'REFUND')) {
    const kept = decimal(amount_paid).minus(decimal(overpaid_amount));
    const isAll = decimal(refunded_amount).cmp(kept) >= 0 && isGivenBack(invoice);
    return isAll ? 'REFUNDED' : 'PARTIALLY_REFUNDED';
  }
  if (invoice.invoice_status === 'FINALIZED' && amount_remaining === '0') {
    return overpaid_amount === '0' ? 'SUCCEEDED' : 'OVERPAID';
  }
  return invoice.noted ?? 'PENDING';
}

/** Tells whether money of an invoice may be on its way: what becomes of it is not known. */
export function isPaymentUnderWay(invoice: Invoice): boolean {
  const status = paymentStatusOf(invoice);
  return status === 'INITIATED' || status === 'PROCESSING';
}

/** Tells whether all prepaid credits that the invoice has taken went back by credit notes. */
const isGivenBack = ({ notes, total_credits }: Invoice): boolean => {
  const back = notes.flatMap(({ given_back }) => given_back.map(({ amount }) => amount));
  return decimal(sum(back)).cmp(decimal(total_credits)) >= 0;
};

const sum = (amounts: readonly DecimalText[]): DecimalText =>
  textOf(amounts.reduce((all, amount) => all.plus(decimal(amount)), zero));

/** The unique value by which a number leads to its invoice. */
export const numberClaim = 'invoice_number';

/** The fault of a number that another invoice has. */
const numberFault = (number: string): string =>
  `Another invoice has the number ${JSON.stringify(number)}.`;

/** Debts of customers for subscriptions, for purchases, and for what callers say; one stream for each invoice. */
export const invoice = aggregate({
  name: 'invoice',
  scope: 'environment',
  events: invoiceEvents,
  initial: null as InvoiceState,
  evolve,
  /** Whoever gives it: sequences of several forms, and callers, give numbers to invoices of one environment. */
  unique: (state) => {
    const number = state?.invoice_number ?? state?.given_number ?? null;
    if (number === null) return [];
    return [{ name: numberClaim, value: number, problem: numberFault(number) }];
  },
});
