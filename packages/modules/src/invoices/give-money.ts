import type { ReactionContext } from '@counterfoil/engine/define';
import { type DecimalText, existing, type WalletId } from '@counterfoil/kernel';
import { atItsWorth, type EntryDetails, giveCredits } from '../wallets/index.ts';
import type { InvoiceDecision } from './decisions.ts';
import { type Invoice, invoice } from './invoice.ts';

/** Loads money of an invoice into a wallet of the customer, once. The invoice remembers the wallet before. */
export const giveMoney = (
  context: ReactionContext,
  { id, customer_id, currency, wallets }: Invoice,
  amount: DecimalText,
  details: EntryDetails,
): Promise<unknown> =>
  giveCredits(
    context,
    {
      id,
      customerId: customer_id,
      currency,
      chosen: wallets,
      choose: (walletId) => context.execute(invoice, id, chooseWallet(walletId)),
    },
    {
      ...details,
      ...atItsWorth,
      worth: { kind: 'money', amount },
      priority: null,
      expiresAt: null,
    },
  );

/** Remembers a wallet. Chosen before, no event. */
const chooseWallet =
  (wallet_id: WalletId): InvoiceDecision =>
  (state) =>
    existing(state, 'invoice').wallets.includes(wallet_id)
      ? []
      : [{ type: 'WalletChosen', data: { wallet_id } }];
