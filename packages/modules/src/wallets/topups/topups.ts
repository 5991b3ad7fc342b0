import {
  createdStamps,
  type DecimalText,
  decimal,
  type Stamped,
  type TransactionId,
} from '@counterfoil/kernel';
import type { AutomaticTopUp, WalletEvent } from '../events.ts';
import type { AutoTopup } from '../settings.ts';

type Requested = Extract<WalletEvent, { type: 'TopUpRequested' }>;

/** A top-up that waits for its payment, as it was ordered. */
export type PendingTopUp = Requested['data'] &
  Pick<Extract<WalletEvent, { type: 'TopUpFailed' }>['data'], 'requested'>;

/** The top-up that an event orders. */
export function pendingTopUp({ data, stamp }: Stamped<Requested>): PendingTopUp {
  const { created_at: at, created_by: by } = createdStamps(stamp);
  return { ...data, requested: { at, by } };
}

/** The top-ups without one that has ended. */
export const withoutTopUp = (
  topups: readonly PendingTopUp[],
  id: string,
): readonly PendingTopUp[] => topups.filter(({ transaction_id }) => transaction_id !== id);

/** The end of a top-up. */
export interface EndedTopUp {
  readonly transaction_id: TransactionId;
  readonly transaction_status: 'completed' | 'failed';
}

/** The ends that a wallet remembers: enough for every top-up that can be open while a request looks one up. */
const endsMaximum = 100;

/** The ends that a wallet remembers after one more, the latest last. */
export const withEnd = (ends: readonly EndedTopUp[], end: EndedTopUp): readonly EndedTopUp[] =>
  [...ends, end].slice(-endsMaximum);

/** The automatic top-ups of a wallet so far (D29). */
export interface AutomaticState {
  /** UTC day of the last automatic top-up, and the number of them on it. */
  readonly day: string | null;
  readonly count: number;
  /** UTC day on which the breaker stopped them; null when it has not since. */
  readonly stopped_on: string | null;
  /** True while the last fall has its top-up: until that is booked, or the balance is above the threshold. */
  readonly is_answered: boolean;
}

/** A wallet that has not topped itself up yet. */
export const noneAutomatic: AutomaticState = {
  day: null,
  count: 0,
  stopped_on: null,
  is_answered: false,
};

/** Tells whether a balance is at the threshold of automatic top-up or below; never while that is off. */
export const isLow = (settings: AutoTopup | null, balance: DecimalText): boolean =>
  settings?.enabled === true && decimal(balance).cmp(decimal(settings.threshold)) <= 0;

/** After a movement: a balance above the threshold makes the next fall a new one. */
export const afterMovement = (
  state: AutomaticState,
  settings: AutoTopup | null,
  balance: DecimalText,
): AutomaticState =>
  state.is_answered && !isLow(settings, balance) ? { ...state, is_answered: false } : state;

/** After a change of the settings: under other settings the next fall is a new one. */
export const afterSettings = (
  state: AutomaticState,
  changes: Extract<WalletEvent, { type: 'WalletSettingsChanged' }>['data'],
): AutomaticState => (changes.auto_topup === undefined ? state : { ...state, is_answered: false });

/** After an order: an automatic one is the answer to the last fall. */
export const afterOrder = (
  state: AutomaticState,
  automatic: AutomaticTopUp | undefined,
): AutomaticState =>
  automatic
    ? { day: automatic.day, count: automatic.number, stopped_on: null, is_answered: true }
    : state;

/** After the load of an automatic top-up: its fall is over, and the next one is new. */
export const afterAutomaticLoad = (
  state: AutomaticState,
  automatic: AutomaticTopUp,
): AutomaticState => ({ ...afterOrder(state, automatic), is_answered: false });
