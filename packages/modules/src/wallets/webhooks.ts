import { type Publication, publisher } from '@counterfoil/engine/define';
import type { Stamped } from '@counterfoil/kernel';
import { isWorse } from './alerts.ts';
import type { WalletEvent } from './events.ts';
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

type AlertChange = Extract<WalletEvent, { type: 'AlertStateChanged' }>['data'];

/** `dropped` on the way to a more severe level, `recovered` on the way back (decision 28). */
function alertMessage(
  { before, after: state }: AlertChange,
  after: Wallet,
): readonly Publication[] {
  const shown = walletView(after);
  const alert = {
    alert_type: 'low_credit_balance',
    state,
    current_balance: shown.balance,
    credit_balance: shown.credit_balance,
    alert_settings: shown.alert_settings,
  };
  const tail = isWorse(before, state) ? 'dropped' : 'recovered';
  return [
    {
      type: `wallet.credit_balance.${tail}`,
      resourceId: after.id,
      body: { wallet: shown, alert },
    },
  ];
}

/** What wallets tell the world. */
export const walletPublisher = publisher(wallet, ({ event, after }) => {
  if (!after) return [];
  switch (event.type) {
    case 'WalletCreated':
      return walletMessage('created', after);
    case 'WalletSettingsChanged':
    case 'WalletFrozen':
    case 'WalletUnfrozen':
      return walletMessage('updated', after);
    case 'BulkRecorded':
    case 'CreditsHeld':
    case 'HoldReleased':
      return [];
    case 'AlertStateChanged':
      return alertMessage(event.data, after);
    case 'WalletClosed':
      return walletMessage('terminated', after);
    case 'CreditsLoaded':
    case 'CreditsDebited':
    case 'CreditsExpired':
    case 'HoldCaptured':
      return transactionMessage(event, after);
    default:
      return event satisfies never;
  }
});
