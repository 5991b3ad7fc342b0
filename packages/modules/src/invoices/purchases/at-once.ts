import { carryOutFrom } from '../../following.ts';
import { invoiceOfOrder, type OrderedAtOnce } from '../../wallets/index.ts';
import { finalization } from '../finalizing/finalization.ts';
import { invoice } from '../invoice.ts';
import { purchasesDrafted } from './drafting.ts';

/**
 * Makes the invoice of credits that a request orders at once, under the keys of the reactions that would make it, so that it is there when
 * the answer names it. What fails is left to the reactions.
 */
export const purchasedAtOnce: OrderedAtOnce = async (context, walletId, outcome) => {
  await context.carryOut(purchasesDrafted, walletId, outcome);
  for (const event of outcome.events) {
    if (event.type !== 'TopUpRequested') continue;
    const invoiceId = invoiceOfOrder(event.data.transaction_id);
    await carryOutFrom(context, invoice, [finalization], invoiceId, 0);
  }
};
