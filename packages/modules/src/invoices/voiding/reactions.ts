import { type ReactionContext, reaction } from '@counterfoil/engine/define';
import {
  type DecimalText,
  decimal,
  existing,
  type InvoiceId,
  textOf,
  zero,
} from '@counterfoil/kernel';
import {
  captureForInvoice,
  type EntryDetails,
  entryOfInvoice,
  giveBack,
  wallet,
} from '../../wallets/index.ts';
import type { TakenCredits } from '../events.ts';
import { giveMoney } from '../give-money.ts';
import { invoice } from '../invoice.ts';
import { returnRedemptions } from '../one-off/redemptions.ts';

/**
 * Gives back what is on an invoice that becomes void, once: prepaid credits to the lots that paid, the money to a wallet of the
 * customer as a lot of its own, and coupons that were redeemed for it can be redeemed again (D57, D60, E 15.5 B).
 */
export const voidedInvoices = reaction(invoice, {
  name: 'void of an invoice',
  on: {
    InvoiceVoided: async ({ aggregate_id: id, data: { taken, money } }, context) => {
      const state = existing(await context.load(invoice, id), 'invoice');
      await returnRedemptions(context, state);
      const left = await returnCredits(context, state.id, taken);
      const amount = textOf(decimal(money).plus(decimal(left)));
      if (amount !== '0') await giveMoney(context, state, amount, detailsOf(state.id));
    },
  },
});

const detailsOf = (invoiceId: InvoiceId): Omit<EntryDetails, 'effectiveAt'> => ({
  reason: 'INVOICE_VOID_REFUND',
  referenceType: 'INVOICE',
  referenceId: invoiceId,
  description: null,
  idempotencyKey: null,
  metadata: { invoice_id: invoiceId },
});

/** Gives prepaid credits back to their lots. Returns the worth of those whose wallet is closed and takes none. */
async function returnCredits(
  context: ReactionContext,
  invoiceId: InvoiceId,
  taken: readonly TakenCredits[],
): Promise<DecimalText> {
  let left = zero;
  for (const { wallet_id: walletId, hold_id, credits, amount } of taken) {
    // The invoice may be void before what it held was debited: nothing comes back from what was never taken.
    await context.execute(wallet, walletId, captureForInvoice(walletId, invoiceId));
    const transactionId = entryOfInvoice(hold_id);
    const back = { ...detailsOf(invoiceId), walletId, transactionId, credits };
    if ((await giveBack(context, back)) === null) left = left.plus(decimal(amount));
  }
  return textOf(left);
}
