import type { ReactionContext } from '@counterfoil/engine/define';
import { type Decision, existing, type WalletId } from '@counterfoil/kernel';
import { type GivenCredits, giveCredits } from '../../wallets/index.ts';
import type { SubscriptionEvent } from '../events.ts';
import { payerOf } from '../families/family.ts';
import { type SubscriptionState, subscription } from '../subscription.ts';

/** Loads credits of a subscription into a wallet of who pays for it, once: see `giveCredits`. */
export async function giveSubscriptionCredits(
  context: ReactionContext,
  id: string,
  given: Omit<GivenCredits, 'reason'>,
): Promise<WalletId | null> {
  const before = existing(await context.load(subscription, id), 'subscription');
  const giver = {
    id,
    customerId: payerOf(before),
    currency: before.currency,
    chosen: before.wallets,
    choose: (walletId: WalletId) => context.execute(subscription, id, chooseWallet(walletId)),
  };
  return giveCredits(context, giver, { ...given, reason: 'SUBSCRIPTION_CREDIT_GRANT' });
}

/** Takes a wallet for the credits of a subscription. Chosen before, no event. */
const chooseWallet =
  (wallet_id: WalletId): Decision<SubscriptionState, SubscriptionEvent> =>
  (state) =>
    existing(state, 'subscription').wallets.includes(wallet_id)
      ? []
      : [{ type: 'WalletChosen', data: { wallet_id } }];
