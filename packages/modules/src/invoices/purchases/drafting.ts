import { reaction, type WorkContext } from '@counterfoil/engine/define';
import { existing, type InvoiceId, type WalletId, zeroText } from '@counterfoil/kernel';
import { settingOf } from '../../settings/index.ts';
import { invoiceOfOrder, priceOfOrder, type Wallet, wallet } from '../../wallets/index.ts';
import { draftWithoutTaxes, type InvoiceDecision } from '../decisions.ts';
import type { GivenBill, InvoiceEventData } from '../events.ts';
import { givenLineId } from '../given/bill.ts';
import { figuresOfGiven } from '../given/figures.ts';
import { amountsOf, invoice } from '../invoice.ts';
import { TaxesUnavailable } from '../tax-calculation.ts';
import { voidInvoice } from '../voiding/decisions.ts';

type Order = Wallet['topups'][number];

/**
 * An order of credits that are paid for later becomes an invoice, which is final at once; when the order fails before
 * anything was paid, the invoice is void (E 18.4 B).
 */
export const purchasesDrafted = reaction(wallet, {
  name: 'invoice of a purchase',
  on: {
    TopUpRequested: async ({ aggregate_id: id, data: { transaction_id } }, context) => {
      const { topups } = existing(await context.load(wallet, id), 'wallet');
      const order = topups.find((each) => each.transaction_id === transaction_id);
      // It has ended before anybody came to it, or costs less than can be paid: then nobody is asked for money.
      if (!order || priceOfOrder(order) === zeroText) return;
      const invoiceId = invoiceOfOrder(transaction_id);
      await context.execute(invoice, invoiceId, {
        prepare: () => draftedPurchase(context, invoiceId, id as WalletId, order),
      });
    },
    TopUpFailed: async ({ data: { transaction_id } }, context) => {
      const invoiceId = invoiceOfOrder(transaction_id);
      const billed = await context.load(invoice, invoiceId);
      if (billed === null || billed.invoice_status === 'VOIDED') return;
      await context.execute(invoice, invoiceId, voidUnpaid(invoiceId));
    },
  },
});

/** Makes the invoice of a dead order void. One that is paid, or about to be, stays: its money goes to the customer. */
export const voidUnpaid =
  (id: InvoiceId): InvoiceDecision =>
  (state, at) => {
    const billed = existing(state, 'invoice');
    const isFinal = billed.invoice_status === 'FINALIZED';
    const isPaid = isFinal && amountsOf(billed).amount_remaining === '0';
    const isComing = billed.noted === 'INITIATED' || billed.noted === 'PROCESSING';
    if (billed.invoice_status === 'VOIDED' || isPaid || isComing) return [];
    return voidInvoice(id)(state, at);
  };

/** The decision that drafts the invoice of an order and begins to make it final, with the taxes of the customer. */
async function draftedPurchase(
  context: WorkContext,
  id: InvoiceId,
  walletId: WalletId,
  order: Order,
): Promise<InvoiceDecision> {
  const { customer_id, currency } = order;
  const given = billed(id, order);
  const { due_date_days: due_days } = await settingOf(context, 'invoice_config');
  const drafted = { ...draftOf(id, walletId, order), given, due_days };
  const taxed = { id, subscription_id: null, customer_id, currency, period_end: null };
  try {
    const figures = await figuresOfGiven(context, { ...taxed, created_at: context.now }, given);
    return (state, at) =>
      state === null
        ? [
            { type: 'InvoiceDrafted', data: drafted },
            { type: 'InvoiceComputed', data: { ...figures, plan: null } },
            { type: 'FinalizationStarted', data: { at } },
          ]
        : [];
  } catch (error) {
    if (!(error instanceof TaxesUnavailable)) throw error;
    return draftWithoutTaxes(drafted, error, 'tries_again');
  }
}

/** One line: the credits that are bought. */
const billed = (id: InvoiceId, order: Order): GivenBill => ({
  lines: [
    {
      id: givenLineId(id, 0),
      kind: 'given',
      subscription_id: null,
      subscription_line_item_id: null,
      entity_type: null,
      entity_id: null,
      plan_display_name: null,
      price_id: null,
      price_type: 'FIXED',
      price_unit: null,
      price_unit_id: null,
      price_unit_amount: null,
      meter_id: null,
      meter_display_name: null,
      display_name: `${order.credits} credits`,
      quantity: order.credits,
      free_quantity: null,
      amount: priceOfOrder(order),
      period_start: null,
      period_end: null,
      commitment: null,
      metadata: { wallet_transaction_id: order.transaction_id },
    },
  ],
  coupons: [],
  taxes: null,
});

const draftOf = (
  id: InvoiceId,
  wallet_id: WalletId,
  { transaction_id, customer_id, currency, automatic, description }: Order,
): Omit<InvoiceEventData<'InvoiceDrafted'>, 'given' | 'due_days'> => ({
  id,
  invoice_type: 'ONE_OFF',
  billing_reason: automatic ? 'WALLET_AUTO_TOPUP' : 'MANUAL',
  cause: { kind: 'purchase', wallet_id, transaction_id },
  customer_id,
  subscription_customer_id: null,
  subscription_id: null,
  currency,
  period_start: null,
  period_end: null,
  billing_period: null,
  billing_sequence: null,
  given_number: null,
  due_date: null,
  description,
  invoice_pdf_url: null,
  metadata: { wallet_id, wallet_transaction_id: transaction_id },
  finalizes_at: null,
  collection_method: null,
  idempotency_key: null,
});
