import { reaction, type WorkContext } from '@counterfoil/engine/define';
import { existing, zeroText } from '@counterfoil/kernel';
import {
  type EntryDetails,
  endOfOrder,
  endOrder,
  transactionTable,
  wallet,
} from '../../wallets/index.ts';
import type { InvoiceDecision } from '../decisions.ts';
import { giveMoney } from '../give-money.ts';
import { type Invoice, invoice } from '../invoice.ts';
import { isBought } from '../settling/notes.ts';
import { moneyLeft } from '../voiding/decisions.ts';
import { voidUnpaid } from './drafting.ts';

/**
 * The invoice of a purchase ends the order in the wallet: paid, its credits are loaded, once; void, or adjusted away before
 * anything was paid, the order fails. The wallet decides: money for an order that is dead by then goes to a wallet of the
 * customer as a lot of its own, and credits that have paid to their lots.
 */
export const purchasesEnded = reaction(invoice, {
  name: 'purchase that is paid or void',
  on: {
    InvoiceFinalized: ({ aggregate_id }, context) => endPaid(context, aggregate_id),
    PaymentSettled: async ({ aggregate_id }, context) => {
      await endPaid(context, aggregate_id);
      await voidDead(context, aggregate_id);
    },
    PaymentNoted: ({ aggregate_id }, context) => voidDead(context, aggregate_id),
    InvoiceAdjusted: ({ aggregate_id }, context) => endPaid(context, aggregate_id),
    InvoiceVoided: async ({ aggregate_id: id }, context) => {
      const { cause } = existing(await context.load(invoice, id), 'invoice');
      if (cause.kind !== 'purchase') return;
      const { wallet_id, transaction_id } = cause;
      const { topups } = existing(await context.load(wallet, wallet_id), 'wallet');
      // Mostly the end of the order has made the invoice void.
      if (!topups.some((order) => order.transaction_id === transaction_id)) return;
      await context.execute(wallet, wallet_id, endOrder(wallet_id, transaction_id, 'failed'));
    },
    PurchaseEnded: async ({ aggregate_id: id, data: { end, money } }, context) => {
      if (end === 'completed' || money === zeroText) return;
      const state = existing(await context.load(invoice, id), 'invoice');
      await giveMoney(context, state, money, detailsOf(state));
    },
  },
});

/** Ends the order of an invoice of which nothing remains to be paid, and remembers how. */
async function endPaid(context: WorkContext, id: string): Promise<void> {
  const state = existing(await context.load(invoice, id), 'invoice');
  const { cause, purchase } = state;
  if (cause.kind !== 'purchase' || purchase !== null || state.paid_at === null) return;
  // What was on it went back with the void, which fails the order.
  if (state.invoice_status !== 'FINALIZED') return;
  const { wallet_id, transaction_id } = cause;
  const bought = isBought(state);
  const end = endOrder(wallet_id, transaction_id, bought ? 'completed' : 'failed');
  const outcome = await context.execute(wallet, wallet_id, end);
  if (!bought) return;
  const status =
    endOfOrder(outcome.state, transaction_id) ?? (await endInTable(context, transaction_id));
  await context.execute(invoice, id, endPurchase(status === 'completed' ? 'completed' : 'dead'));
}

/**
 * Makes the invoice of an order void that has failed while a payment was under way, when that has not come, or not wholly. While
 * another one is under way it stays.
 */
async function voidDead(context: WorkContext, id: string): Promise<void> {
  const { cause, purchase, ...billed } = existing(await context.load(invoice, id), 'invoice');
  if (cause.kind !== 'purchase' || purchase !== null) return;
  if (billed.invoice_status !== 'FINALIZED') return;
  const { wallet_id, transaction_id } = cause;
  const buyer = await context.load(wallet, wallet_id);
  if (buyer?.topups.some((order) => order.transaction_id === transaction_id)) return;
  const end = endOfOrder(buyer, transaction_id) ?? (await endInTable(context, transaction_id));
  if (end === 'failed') await context.execute(invoice, id, voidUnpaid(billed.id));
}

/** The end of an order that its wallet does not remember any more. Throws while the table does not show it. */
async function endInTable({ read }: WorkContext, transactionId: string): Promise<string> {
  const found = await read.find(transactionTable, transactionId);
  const status = found?.resource.transaction_status;
  if (status === 'completed' || status === 'failed') return status;
  throw new Error(`${transactionId} has ended, and nothing shows how yet`);
}

/** Remembers how the purchase has ended, once, with the money of one whose order was dead; credits go back to their lots (`creditsOn`). */
const endPurchase =
  (end: 'completed' | 'dead'): InvoiceDecision =>
  (state) => {
    const billed = existing(state, 'invoice');
    if (billed.purchase !== null || billed.invoice_status !== 'FINALIZED') return [];
    return [
      {
        type: 'PurchaseEnded',
        data: { end, money: end === 'dead' ? moneyLeft(billed) : zeroText },
      },
    ];
  };

/** The entry of a wallet for the money of a dead order. */
const detailsOf = ({ id }: Invoice): EntryDetails => ({
  reason: 'PURCHASED_CREDIT_DIRECT',
  referenceType: 'INVOICE',
  referenceId: id,
  description: null,
  idempotencyKey: null,
  metadata: { invoice_id: id },
});
