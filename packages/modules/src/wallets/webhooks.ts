import { type Publication, publisher } from '@counterfoil/engine/define';
import type { Stamped } from '@counterfoil/kernel';
import { type MovementEvent, transactionOf } from './transaction.ts';
import { walletView } from './view.ts';
import { type Wallet, wallet } from './wallet.ts';

const walletMessage = (tail: string, after: Wallet): readonly Publication[] => [
  { type: `wallet.${tail}`, resourceId: after.id, body: { wallet: walletView(after) } },
];

/** One message per entry of the ledger, with the entry and the wallet after it. */
const transactionMessage = (
  event: Stamped<MovementEvent>,
  after: Wallet,
): readonly Publication[] => [
  {
    type: 'wallet.transaction.created',
    resourceId: after.id,
    body: { transaction: transactionOf(event, after.id), wallet: walletView(after) },
  },
];

/** What wallets tell the world. */
export const walletPublisher = publisher(wallet, ({ event, after }) => {
  if (!after) return [];
  switch (event.type) {
    case 'WalletCreated':
      return walletMessage('created', after);
    case 'WalletSettingsChanged':
      return walletMessage('updated', after);
    case 'WalletClosed':
      return walletMessage('terminated', after);
    case 'CreditsLoaded':
    case 'CreditsDebited':
    case 'CreditsExpired':
      return transactionMessage(event, after);
    default:
      return event satisfies never;
  }
});
