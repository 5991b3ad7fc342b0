import {
  type Change,
  type Embedded,
  type PublicEvent,
  type PublicEventTypes,
  publicEvents,
} from '@counterfoil/engine/define';
import { z } from 'zod';
import { customerRecords } from '../customers/index.ts';
import { isWorse } from './alerts.ts';
import { type AlertState, alertStateSchema, type WalletEvent } from './events.ts';
import { transactionOf } from './ledger/transaction.ts';
import { transactionSchema, type WalletResource, walletSchema } from './schema.ts';
import { walletView } from './view.ts';
import { availableIn, type Wallet, type WalletState, wallet } from './wallet.ts';

type AlertType = 'low_credit_balance' | 'auto_topup_stopped';

/** The alert level of a wallet, with the credits that it follows from. */
const alertOf = (
  after: Wallet,
  { balance, credit_balance, alert_settings }: WalletResource,
  alert_type: AlertType,
  state: AlertState,
) => ({
  alert_type,
  state,
  available: availableIn(after),
  current_balance: balance,
  credit_balance,
  alert_settings,
});

type WalletMessages = (
  change: Change<WalletState, WalletEvent>,
  embedded: Embedded<'customer'>,
) => readonly PublicEvent[];

/**
 * One message per entry of the ledger, with the entry and the wallet after it: a top-up that waits for its
 * payment has one when it is ordered and one when it ends, and `transaction_status` says which. The others
 * tell of the wallet with its alert level.
 */
const walletMessages: WalletMessages = ({ event, after }, embedded) => {
  if (!after) return [];
  const shown = walletView(after);
  const told = (tail: string, body: PublicEvent['body']) => [
    { type: `wallet.${tail}`, resourceId: after.id, body },
  ];
  const state = (tail: string, type: AlertType = 'low_credit_balance', level = after.alert_state) =>
    told(tail, { wallet: shown, ...embedded, alert: alertOf(after, shown, type, level) });
  switch (event.type) {
    case 'WalletCreated':
      return state('created');
    case 'WalletSettingsChanged':
    case 'WalletFrozen':
    case 'WalletUnfrozen':
      return state('updated');
    case 'BulkRecorded':
    case 'CreditsHeld':
    case 'HoldChanged':
    case 'HoldReleased':
      return [];
    case 'AlertStateChanged': {
      // `dropped` on the way to a more severe level, `recovered` on the way back (D28).
      const { before, after: level } = event.data;
      const tail = isWorse(before, level) ? 'dropped' : 'recovered';
      return state(`credit_balance.${tail}`, 'low_credit_balance', level);
    }
    case 'AutomaticTopUpStopped':
      // Credits are low and no automatic top-up follows (D29). The level does not change.
      return state('credit_balance.dropped', 'auto_topup_stopped');
    case 'WalletClosed':
      return state('terminated');
    case 'CreditsLoaded':
    case 'CreditsDebited':
    case 'CreditsExpired':
    case 'HoldCaptured':
    case 'DebitReversed':
    case 'TopUpRequested':
    case 'TopUpFailed': {
      const transaction = transactionOf(event, after.id);
      return told('transaction.created', { transaction, wallet: shown, ...embedded });
    }
    default:
      return event satisfies never;
  }
};

const shownBody = z.object({ wallet: walletSchema, customer: customerRecords.schema });
const walletBody = shownBody.extend({
  alert: z
    .object({
      alert_type: z.enum(['low_credit_balance', 'auto_topup_stopped']),
      state: alertStateSchema,
      available: z
        .string()
        .meta({ description: 'Credits that can be spent: the balance less holds' }),
      current_balance: z.string(),
      credit_balance: z.string(),
      alert_settings: walletSchema.shape.alert_settings,
    })
    .meta({ id: 'BalanceAlert' }),
});

const types: PublicEventTypes = {
  'wallet.created': { summary: 'A wallet is created', body: walletBody },
  'wallet.updated': { summary: 'Settings or state of a wallet change', body: walletBody },
  'wallet.terminated': { summary: 'A wallet is closed', body: walletBody },
  'wallet.transaction.created': {
    summary:
      'Credits are loaded, spent or expire, or a top-up waits for its payment or is given up',
    kind: 'entry',
    body: z.object({ transaction: transactionSchema, ...shownBody.shape }),
  },
  'wallet.credit_balance.dropped': {
    summary:
      'The credits that can be spent reach a more severe alert level, or automatic top-up has stopped',
    kind: 'entry',
    body: walletBody,
  },
  'wallet.credit_balance.recovered': {
    summary: 'The credits that can be spent reach a less severe alert level',
    kind: 'entry',
    body: walletBody,
  },
};

/** The public events of wallets, each with the customer of the wallet. */
export const walletPublicEvents = publicEvents(wallet, walletMessages, types, {
  customer: { record: customerRecords, id: ({ after }) => after?.customer_id },
});
