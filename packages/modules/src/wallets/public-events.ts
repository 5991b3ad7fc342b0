import {
  type Change,
  type Embedded,
  type PublicEvent,
  type PublicEventTypes,
  publicEvents,
} from '@counterfoil/engine/define';
import { z } from 'zod';
import { customerRecords } from '../customers/index.ts';
import { featureRecords } from '../features/index.ts';
import { isWorse } from './alerts.ts';
import { type AlertState, alertStateSchema, type WalletEvent } from './events.ts';
import { transactionOf } from './ledger/transaction.ts';
import { transactionSchema, type WalletResource, walletSchema } from './schema.ts';
import { walletView } from './view.ts';
import { availableIn, type Wallet, type WalletState, wallet } from './wallet.ts';

type AlertType = 'low_credit_balance' | 'auto_topup_stopped';
type OngoingEvent = Extract<
  WalletEvent,
  { type: 'OngoingAlertStateChanged' | 'FeatureAlertStateChanged' }
>;

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

/** The balance less what is going to be paid, and everything that it follows from. */
const ongoingAlert = (
  { data }: OngoingEvent,
  { credit_balance, alert_settings }: WalletResource,
) => ({
  alert_type: 'low_ongoing_balance',
  state: data.after,
  available: data.available,
  current_balance: data.balance,
  credit_balance,
  current_period_usage: data.current_period_usage,
  unpaid_invoices_amount: data.unpaid_invoices_amount,
  alert_settings,
});

/** The message about the level of a feature, with the records and the flat fields beside them (D48). */
const featureAlert = (
  { data }: Extract<OngoingEvent, { type: 'FeatureAlertStateChanged' }>,
  shown: WalletResource,
  embedded: Embedded<Member>,
): PublicEvent => ({
  type: 'feature.wallet_balance.alert',
  resourceId: data.feature_id,
  body: {
    alert_type: 'feature_wallet_balance',
    alert_status: data.after,
    feature_id: data.feature_id,
    wallet_id: shown.id,
    customer_id: shown.customer_id,
    current_balance: data.balance,
    credit_balance: shown.credit_balance,
    available: data.available,
    wallet: shown,
    ...embedded,
  },
});

type Member = 'customer' | 'feature';

type WalletMessages = (
  change: Change<WalletState, WalletEvent>,
  embedded: Embedded<Member>,
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
    case 'OngoingAlertStateChanged': {
      const tail = isWorse(event.data.before, event.data.after) ? 'dropped' : 'recovered';
      const alert = ongoingAlert(event, shown);
      return told(`ongoing_balance.${tail}`, { wallet: shown, ...embedded, alert });
    }
    case 'FeatureAlertStateChanged':
      return [featureAlert(event, shown, embedded)];
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

const ongoingBody = shownBody.extend({
  alert: walletBody.shape.alert
    .extend({
      alert_type: z.literal('low_ongoing_balance'),
      available: z
        .string()
        .meta({ description: 'Credits that are left once everything is paid that is owed' }),
      current_balance: z.string().meta({ description: 'The same in the currency' }),
      current_period_usage: z.string(),
      unpaid_invoices_amount: z.string(),
    })
    .meta({ id: 'OngoingBalanceAlert' }),
});

const featureAlertBody = shownBody.extend({
  alert_type: z.literal('feature_wallet_balance'),
  alert_status: alertStateSchema,
  feature_id: z.string(),
  wallet_id: z.string(),
  customer_id: z.string(),
  current_balance: ongoingBody.shape.alert.shape.current_balance,
  credit_balance: z.string(),
  available: ongoingBody.shape.alert.shape.available,
  feature: featureRecords.schema,
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
  'wallet.ongoing_balance.dropped': {
    summary:
      'The credits less usage that is not billed and invoices that are not paid reach a more severe alert level',
    kind: 'entry',
    body: ongoingBody,
  },
  'wallet.ongoing_balance.recovered': {
    summary:
      'The credits less usage that is not billed and invoices that are not paid reach a less severe alert level',
    kind: 'entry',
    body: ongoingBody,
  },
  'feature.wallet_balance.alert': {
    summary:
      'The balance of a wallet less what it is going to pay reaches an alert level of a feature',
    kind: 'entry',
    body: featureAlertBody,
  },
};

/** The public events of wallets, each with the customer of the wallet, and with the feature whose level is told of. */
export const walletPublicEvents = publicEvents(wallet, walletMessages, types, {
  customer: { record: customerRecords, id: ({ after }) => after?.customer_id },
  feature: {
    record: featureRecords,
    id: ({ event }) => (event.type === 'FeatureAlertStateChanged' ? event.data.feature_id : null),
  },
});
