import { createdStamps, type DecimalText, decimal, type Stamped } from '@counterfoil/kernel';
import type { AutomaticTopUp, WalletEvent } from '../events.ts';
import type { AutoTopup } from '../settings.ts';

type Requested = Extract<WalletEvent, { type: 'TopUpRequested' }>;

/** A top-up that waits for its payment, as it was asked for. */
export type PendingTopUp = Requested['data'] &
  Pick<Extract<WalletEvent, { type: 'TopUpFailed' }>['data'], 'requested'>;

/** The top-up that an event asks for. */
export function pendingTopUp({ data, stamp }: Stamped<Requested>): PendingTopUp {
  const { created_at: at, created_by: by } = createdStamps(stamp);
  return { ...data, requested: { at, by } };
}

/** The top-ups without one that has ended. */
export const withoutTopUp = (
  topups: readonly PendingTopUp[],
  id: string,
): readonly PendingTopUp[] => topups.filter(({ transaction_id }) => transaction_id !== id);

/** What a wallet has topped up by itself (D29). */
export interface AutomaticState {
  /** UTC day of the last automatic top-up, and how many there were on it. */
  readonly day: string | null;
  readonly count: number;
  /** UTC day on which the breaker stopped them; null when they were not stopped since. */
  readonly stopped_on: string | null;
  /** Whether the last fall has its top-up already: until that is booked, or the balance is up again. */
  readonly is_answered: boolean;
}

/** A wallet that has not topped itself up yet. */
export const noneAutomatic: AutomaticState = {
  day: null,
  count: 0,
  stopped_on: null,
  is_answered: false,
};

/** Whether a balance is at the threshold of automatic top-up or below it; never while that is off. */
export const isLow = (settings: AutoTopup | null, balance: DecimalText): boolean =>
  settings?.enabled === true && decimal(balance).cmp(decimal(settings.threshold)) <= 0;

/** After a movement: a balance that is up again makes the next fall a new one. */
export const afterMovement = (
  state: AutomaticState,
  settings: AutoTopup | null,
  balance: DecimalText,
): AutomaticState =>
  state.is_answered && !isLow(settings, balance) ? { ...state, is_answered: false } : state;

/** After a change of the settings: other settings of automatic top-up judge the next fall anew. */
export const afterSettings = (
  state: AutomaticState,
  changes: Extract<WalletEvent, { type: 'WalletSettingsChanged' }>['data'],
): AutomaticState => (changes.auto_topup === undefined ? state : { ...state, is_answered: false });

/** After an order: one that the wallet made by itself is the answer to the last fall. */
export const afterOrder = (
  state: AutomaticState,
  automatic: AutomaticTopUp | undefined,
): AutomaticState =>
  automatic
    ? { day: automatic.day, count: automatic.number, stopped_on: null, is_answered: true }
    : state;

/** After the load of an automatic top-up: its fall is over, the next one is a new one. */
export const afterAutomaticLoad = (
  state: AutomaticState,
  automatic: AutomaticTopUp,
): AutomaticState => ({ ...afterOrder(state, automatic), is_answered: false });
