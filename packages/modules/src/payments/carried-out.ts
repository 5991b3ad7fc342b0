import {
  type Outcome,
  type Reaction,
  type ReactionContext,
  type RequestContext,
  reaction,
} from '@counterfoil/engine/define';
import {
  type DecimalText,
  decimal,
  existing,
  textOf,
  type WalletId,
  zeroText,
} from '@counterfoil/kernel';
import { carryOutFrom, type Following, firstOf, stateFollowing } from '../following.ts';
import {
  creditsOn,
  invoice,
  notePayment,
  paymentIn,
  returnPayment,
  settlePayment,
} from '../invoices/index.ts';
import {
  atItsWorth,
  type EntryDetails,
  giveBack,
  giveCredits,
  paidIn,
  payWithCredits,
  wallet,
  whyUnpaid,
} from '../wallets/index.ts';
import { applyPayment, chooseWallet, failPayment, succeedPayment } from './decisions.ts';
import type { PaymentEvent } from './events.ts';
import { type Payment, type PaymentState, payment } from './payment.ts';
import { askedOfProvider } from './provided.ts';
import type { PaymentProvider } from './provider.ts';
import { creditsReturned, endReturn } from './returns.ts';

/**
 * The consequences of a payment: a wallet or a provider is asked, the invoice takes the money that has come, what it does not
 * need goes to a wallet of the customer (D60), and what went back to the payer is owed again. Every step is recorded
 * before the next, and all are safe to repeat.
 */
export const paymentsCarriedOut = (provider: PaymentProvider | null) =>
  reaction(payment, {
    name: 'payment',
    on: {
      PaymentStarted: async ({ aggregate_id: id }, context) => {
        const state = existing(await context.load(payment, id), 'payment');
        if (state.wallet_id !== null) await payFromWallet(context, state, state.wallet_id);
      },
      ...askedOfProvider(provider),
      PaymentSucceeded: async ({ aggregate_id: id }, context) => {
        const state = existing(await context.load(payment, id), 'payment');
        await context.execute(payment, id, applyPayment(await excessOf(context, state)));
      },
      PaymentApplied: async ({ aggregate_id: id, data: { to_customer } }, context) => {
        if (to_customer === zeroText) return;
        const state = existing(await context.load(payment, id), 'payment');
        await giveExcess(context, state, to_customer);
      },
      PaymentFailed: async ({ aggregate_id: id }, context) => {
        const { destination_type, destination_id } = existing(
          await context.load(payment, id),
          'payment',
        );
        if (destination_type !== 'INVOICE') return;
        const note = notePayment({ payment_id: id, payment_status: 'FAILED' });
        await context.execute(invoice, destination_id, note);
      },
      ReturnAsked: async ({ aggregate_id: id, data }, context) => {
        const { destination_id } = existing(await context.load(payment, id), 'payment');
        const { returned, payment_status, reversal_id } = data;
        // Part of an amount that a caller names makes no sense to them; of all that is left any part does.
        const isPartAllowed = payment_status !== 'PARTIALLY_REFUNDED' || reversal_id !== null;
        const asked = returnPayment({ payment_id: id, returned, isPartAllowed });
        const outcome = await context.execute(invoice, destination_id, asked);
        const paid = paymentIn(existing(outcome.state, 'invoice'), id);
        await context.execute(payment, id, endReturn(paid?.returned ?? zeroText));
      },
      PaymentReturned: async ({ aggregate_id: id, data }, context) => {
        const state = existing(await context.load(payment, id), 'payment');
        if (!state.debit || data.reversal_id !== null) return;
        const before = textOf(decimal(data.returned).minus(decimal(data.amount)));
        await giveParts(context, state, before, data.amount, 'INVOICE_PAYMENT');
      },
    },
  });

/** The entries of wallets that a payment makes refer to it. */
const detailsOf = (
  { id, destination_type, destination_id }: Payment,
  reason: EntryDetails['reason'],
): Omit<EntryDetails, 'effectiveAt'> => ({
  reason,
  referenceType: 'PAYMENT',
  referenceId: id,
  description: null,
  idempotencyKey: null,
  metadata:
    destination_type === 'INVOICE'
      ? { payment_id: id, invoice_id: destination_id }
      : { payment_id: id },
});

/** The wallet pays all of it or nothing: its entry is what the payment stands on. */
async function payFromWallet(
  context: ReactionContext,
  state: Payment,
  walletId: WalletId,
): Promise<void> {
  const pay = payWithCredits(walletId, state.amount, detailsOf(state, 'INVOICE_PAYMENT'));
  const outcome = await context.execute(wallet, walletId, pay);
  const paid = paidIn(outcome.events);
  const end = paid
    ? succeedPayment({ debit: { wallet_id: walletId, ...paid } })
    : failPayment(whyUnpaid(outcome.state));
  await context.execute(payment, state.id, end);
}

/** The invoice takes the money, once for each payment. Returns what it has not taken, or does not need. */
async function excessOf(context: ReactionContext, state: Payment): Promise<DecimalText> {
  const { id, destination_type, destination_id, payment_method_type: method, amount } = state;
  if (destination_type === 'CUSTOMER') return amount;
  const settle = settlePayment({ payment_id: id, method, amount });
  const outcome = await context.execute(invoice, destination_id, settle);
  const settled = paymentIn(existing(outcome.state, 'invoice'), id);
  return settled?.excess ?? amount;
}

/**
 * Gives the customer the rest of a payment: credits go back to the lots that paid with them, money becomes credits that
 * were paid for.
 */
async function giveExcess(
  context: ReactionContext,
  state: Payment,
  excess: DecimalText,
): Promise<void> {
  const before = textOf(decimal(state.amount).minus(decimal(excess)));
  await giveParts(context, state, before, excess, 'INVOICE_PAYMENT');
}

/**
 * Gives a part of a payment to the customer, after `before` of it: to the lots that paid, or as money to a wallet, also where that
 * of the lots is closed.
 */
async function giveParts(
  context: ReactionContext,
  state: Payment,
  before: DecimalText,
  part: DecimalText,
  reason: EntryDetails['reason'],
): Promise<void> {
  const { id, customer_id: customerId, currency, debit } = state;
  if (debit) {
    const credits = creditsReturned(state, before, part);
    const details = detailsOf(state, reason);
    const { wallet_id: walletId, transaction_id: transactionId } = debit;
    const back = await giveBack(context, { ...details, walletId, transactionId, credits });
    if (back !== null) return;
  }
  const choose = (walletId: WalletId) => context.execute(payment, id, chooseWallet(walletId));
  await giveCredits(
    context,
    { id, customerId, currency, chosen: state.wallets, choose },
    {
      ...detailsOf(state, 'PURCHASED_CREDIT_DIRECT'),
      ...atItsWorth,
      worth: { kind: 'money', amount: part },
      priority: null,
      expiresAt: null,
    },
  );
}

/**
 * Credits that a wallet has paid an invoice with go back to their lots when it becomes void (D60), or when the order that it was for was
 * dead; of a closed wallet their money goes to another.
 */
export const creditsOfVoid = reaction(invoice, {
  name: 'payments of a void invoice',
  on: {
    InvoiceVoided: ({ aggregate_id }, context) =>
      giveCreditsBack(context, aggregate_id, 'INVOICE_VOID_REFUND'),
    PurchaseEnded: async ({ aggregate_id, data: { end } }, context) => {
      if (end === 'dead') await giveCreditsBack(context, aggregate_id, 'INVOICE_PAYMENT');
    },
  },
});

async function giveCreditsBack(
  context: ReactionContext,
  invoiceId: string,
  reason: EntryDetails['reason'],
): Promise<void> {
  const state = existing(await context.load(invoice, invoiceId), 'invoice');
  for (const { payment_id, amount } of creditsOn(state)) {
    const paid = existing(await context.load(payment, payment_id), 'payment');
    const end = existing(paymentIn(state, payment_id) ?? null, 'payment of the invoice');
    // What went back before was the beginning of it, and its excess is the end.
    const before = decimal(end.amount).minus(decimal(end.excess)).minus(decimal(amount));
    await giveParts(context, paid, textOf(before), amount, reason);
  }
}

type PaymentOutcome = Outcome<PaymentState, PaymentEvent>;

/** A payment that is asked for comes, or does not. */
const ends = ['PaymentSucceeded', 'PaymentFailed'] as const;

const following: Following<PaymentEvent, PaymentState> = (event, state) => {
  switch (event.type) {
    case 'PaymentStarted':
      // Of one that no wallet pays a provider says what becomes of it, or a caller does.
      return state?.wallet_id == null ? [] : [ends];
    case 'PaymentAttemptStarted':
    case 'ProviderAsked':
      return [['PaymentAttemptPrepared'], ends];
    case 'PaymentCancelled':
      return [ends];
    case 'PaymentSucceeded':
      return [['PaymentApplied']];
    case 'PaymentApplied':
    case 'PaymentReturned':
      return [['WalletChosen']];
    case 'ReturnAsked':
      return [['ReturnRefused', 'PaymentReturned']];
    case 'RefundStarted':
      return [['RefundCommitted', 'RefundFailed']];
    case 'RefundCommitted':
      return [['PaymentReturned'], ['RefundSucceeded', 'RefundFailed']];
    default:
      return [];
  }
};

/**
 * Carries out at once what follows from a command on a payment, so that the answer can show it. Returns the payment after
 * that; what fails is left to the reaction.
 */
export async function carriedOut(
  context: RequestContext,
  reacting: Reaction,
  id: string,
  outcome: PaymentOutcome,
): Promise<Payment> {
  await carryOutFrom(context, payment, [reacting], id, firstOf(outcome));
  return existing(await stateFollowing(context, payment, id, outcome, following), 'payment');
}
