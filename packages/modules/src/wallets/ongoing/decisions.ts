import {
  canonicalJson,
  type DecimalText,
  decimal,
  decimalPlaces,
  divide,
  type FeatureId,
  type Instant,
  textOf,
} from '@counterfoil/kernel';
import { alertEvents, alertStateOf } from '../alerts.ts';
import type { WalletDecision } from '../decisions.ts';
import type { AlertState, Occasion, WalletEvent } from '../events.ts';
import { chain, type Step } from '../ledger/chain.ts';
import { dueEvents, settledWallet } from '../ledger/due.ts';
import type { AlertSettings } from '../settings.ts';
import { automaticEvents } from '../topups/automatic.ts';
import { availableIn, type Wallet } from '../wallet.ts';

/** Money that a wallet is going to pay, and has not paid yet (E 18.8). */
export interface BorneMoney {
  /** Usage that is not billed yet. */
  readonly current_period_usage: DecimalText;
  /** The part of invoices that are not paid. */
  readonly unpaid_invoices_amount: DecimalText;
  /** Credits that are held for an invoice among these: they are the wallet's as long as that is owed. */
  readonly held: DecimalText;
}

/** A balance less everything that it is going to pay: in money, and in credits. */
export interface OngoingBalance {
  readonly money: DecimalText;
  readonly credits: DecimalText;
}

/** The balance that a wallet has once everything is paid that it is going to pay by now; below zero where that is not there. */
export function ongoingOf(wallet: Wallet, borne: BorneMoney): OngoingBalance {
  const rate = decimal(wallet.conversion_rate);
  const there = decimal(availableIn(wallet)).plus(decimal(borne.held));
  const owed = decimal(borne.current_period_usage).plus(decimal(borne.unpaid_invoices_amount));
  const money = there.times(rate).minus(owed);
  return {
    money: textOf(money),
    credits: textOf(divide(money, rate, decimalPlaces.credits)),
  };
}

/** The balance of a wallet at an instant: everything that has ended by then counts as ended, however late it is booked. */
export const ongoingAt = (wallet: Wallet, borne: BorneMoney, at: Instant): OngoingBalance =>
  ongoingOf(settledWallet(wallet, at), borne);

/** A feature that tells when the balance of a wallet reaches a level. */
export interface AlertingFeature {
  readonly feature_id: FeatureId;
  readonly alert_settings: AlertSettings | null;
}

/** A look at everything that a wallet is going to pay. */
export interface SeenBalance extends BorneMoney {
  /** The wallet on which it was looked, as `spendingOf` tells. */
  readonly spending: string;
  /** Usage is counted up to this position of the log. */
  readonly position: string;
  readonly features: readonly AlertingFeature[];
}

/**
 * Everything of a wallet that its part of what is owed depends on: what can be spent, by whom, and what for. While it is the same, so is what a
 * look has found.
 */
export const spendingOf = ({
  credit_balance,
  holds,
  wallet_status,
  priority,
  config,
}: Wallet): string =>
  canonicalJson({
    credit_balance,
    holds: holds.map(({ id, credits }) => ({ id, credits })),
    wallet_status,
    priority,
    config,
  });

/**
 * Judges the balance less what is going to be paid, beside what can be spent (D28): one event for each change of a level, of
 * the wallet's own and of each feature that watches it, and then automatic top-up, as after any other occasion (D29).
 *
 * No events where the wallet is not the one on which it was looked any more: what it has paid since would count twice. Whoever looks again
 * sees both sides as they are.
 */
export const judgeOngoing =
  (id: string, seen: SeenBalance): WalletDecision =>
  (state, at) => {
    if (state?.id !== id || state.wallet_status !== 'active') return [];
    if (state.wallet_type !== 'PRE_PAID' || spendingOf(state) !== seen.spending) return [];
    const judge: Step = (wallet) => judged(wallet, seen);
    return chain(state, [
      (current) => dueEvents(current, at),
      // What has ended meanwhile may have reached a level, as it does in every other operation.
      alertEvents,
      judge,
      (wallet) => automaticEvents(wallet, ongoing, at, ongoingOf(wallet, seen).credits),
      judge,
      alertEvents,
    ]);
  };

const ongoing: Occasion = { cause: 'ongoing', cause_id: null };

function judged(wallet: Wallet, seen: SeenBalance): readonly WalletEvent[] {
  const { money, credits: available } = ongoingOf(wallet, seen);
  const { current_period_usage, unpaid_invoices_amount, position } = seen;
  const figures = {
    available,
    balance: money,
    current_period_usage,
    unpaid_invoices_amount,
    position,
  };
  const { alert_state: before, features } = wallet.ongoing;
  const after = alertStateOf(wallet.alert_settings, available);
  const own: readonly WalletEvent[] =
    before === after
      ? []
      : [{ type: 'OngoingAlertStateChanged', data: { before, after, ...figures } }];
  const ofFeatures = featuresOf(wallet, seen).flatMap(
    ({ feature_id, alert_settings }): readonly WalletEvent[] => {
      const level = alertStateOf(alert_settings, available);
      const was: AlertState = features[feature_id] ?? 'ok';
      if (level === was) return [];
      const data = { feature_id, before: was, after: level, ...figures };
      return [{ type: 'FeatureAlertStateChanged', data }];
    },
  );
  return [...own, ...ofFeatures];
}

/** The features that watch, and those that did when the wallet was last judged. */
const featuresOf = ({ ongoing: { features } }: Wallet, seen: SeenBalance) => [
  ...seen.features,
  ...Object.keys(features)
    .filter((id) => !seen.features.some(({ feature_id }) => feature_id === id))
    .map((id) => ({ feature_id: id as FeatureId, alert_settings: null })),
];
