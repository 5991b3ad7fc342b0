import { type Change, type PublicEvent, publicEvents } from '@counterfoil/engine/define';
import type { Stamped } from '@counterfoil/kernel';
import { z } from 'zod';
import { isWorse } from './alerts.ts';
import { type AlertState, alertStateSchema, type WalletEvent } from './events.ts';
import { type EntryEvent, transactionOf } from './ledger/transaction.ts';
import { transactionSchema, walletSchema } from './schema.ts';
import { walletView } from './view.ts';
import { type Wallet, type WalletState, wallet } from './wallet.ts';

const walletMessage = (tail: string, after: Wallet): readonly PublicEvent[] => [
  { type: `wallet.${tail}`, resourceId: after.id, body: { wallet: walletView(after) } },
];

/**
 * One message per entry of the ledger, with the entry and the wallet after it. A top-up that waits for
 * its payment has one when it is ordered and one when it ends; `transaction_status` says which.
 */
const transactionMessage = (event: Stamped<EntryEvent>, after: Wallet): readonly PublicEvent[] => [
  {
    type: 'wallet.transaction.created',
    resourceId: after.id,
    body: { transaction: transactionOf(event, after.id), wallet: walletView(after) },
  },
];

type AlertChange = Extract<WalletEvent, { type: 'AlertStateChanged' }>['data'];

/** A message about the credits of a wallet, with the balance concerned. */
function alertMessage(
  tail: 'dropped' | 'recovered',
  alert: { readonly alert_type: string; readonly state: AlertState },
  after: Wallet,
): readonly PublicEvent[] {
  const shown = walletView(after);
  const { balance: current_balance, credit_balance, alert_settings } = shown;
  return [
    {
      type: `wallet.credit_balance.${tail}`,
      resourceId: after.id,
      body: { wallet: shown, alert: { ...alert, current_balance, credit_balance, alert_settings } },
    },
  ];
}

/** `dropped` on the way to a more severe level, `recovered` on the way back (D28). */
const levelMessage = ({ before, after: state }: AlertChange, after: Wallet) =>
  alertMessage(
    isWorse(before, state) ? 'dropped' : 'recovered',
    { alert_type: 'low_credit_balance', state },
    after,
  );

/** The balance has fallen and no automatic top-up follows (D29). The level does not change. */
const stoppedMessage = (after: Wallet) =>
  alertMessage('dropped', { alert_type: 'auto_topup_stopped', state: after.alert_state }, after);

function walletMessages({
  event,
  after,
}: Change<WalletState, WalletEvent>): readonly PublicEvent[] {
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
      return levelMessage(event.data, after);
    case 'AutomaticTopUpStopped':
      return stoppedMessage(after);
    case 'WalletClosed':
      return walletMessage('terminated', after);
    case 'CreditsLoaded':
    case 'CreditsDebited':
    case 'CreditsExpired':
    case 'HoldCaptured':
    case 'TopUpRequested':
    case 'TopUpFailed':
      return transactionMessage(event, after);
    default:
      return event satisfies never;
  }
}

const shownWallet = z.object({ wallet: walletSchema });
const balanceAlert = shownWallet.extend({
  alert: z.object({
    alert_type: z.enum(['low_credit_balance', 'auto_topup_stopped']),
    state: alertStateSchema,
    current_balance: z.string(),
    credit_balance: z.string(),
    alert_settings: walletSchema.shape.alert_settings,
  }),
});

/** The public events of wallets. */
export const walletPublicEvents = publicEvents(wallet, walletMessages, {
  'wallet.created': { summary: 'A wallet is created', body: shownWallet },
  'wallet.updated': { summary: 'Settings or state of a wallet change', body: shownWallet },
  'wallet.terminated': { summary: 'A wallet is closed', body: shownWallet },
  'wallet.transaction.created': {
    summary:
      'Credits are loaded, spent or expire, or a top-up waits for its payment or is given up',
    kind: 'entry',
    body: z.object({ transaction: transactionSchema, wallet: walletSchema }),
  },
  'wallet.credit_balance.dropped': {
    summary: 'The balance reaches a more severe alert level, or automatic top-up has stopped',
    kind: 'entry',
    body: balanceAlert,
  },
  'wallet.credit_balance.recovered': {
    summary: 'The balance reaches a less severe alert level',
    kind: 'entry',
    body: balanceAlert,
  },
});
