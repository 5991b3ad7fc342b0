import {
  createdStamps,
  type DecimalText,
  decimal,
  type Instant,
  nearestInstant,
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
}

/** A wallet that has not topped itself up yet. */
export const noneAutomatic: AutomaticState = { day: null, count: 0, stopped_on: null };

/** Tells whether what can be spent is at the threshold of automatic top-up or below; never while that is off. */
export const isLow = (settings: AutoTopup | null, available: DecimalText): boolean =>
  settings?.enabled === true && decimal(available).cmp(decimal(settings.threshold)) <= 0;

/** After a top-up was loaded or ordered, whether the wallet did it by itself or not. */
export const afterAutomatic = (
  state: AutomaticState,
  automatic: AutomaticTopUp | undefined,
): AutomaticState =>
  automatic ? { day: automatic.day, count: automatic.number, stopped_on: null } : state;

const dayMilliseconds = 86_400_000;

/** The start of the UTC day after the breaker, where the top-up that it stopped is still wanted; else null. */
export function resumption(
  { automatic, auto_topup, topups }: ToppedUp,
  available: DecimalText,
): Instant | null {
  const { stopped_on } = automatic;
  if (stopped_on === null || hasAutomaticOrder({ topups })) return null;
  return isLow(auto_topup, available)
    ? nearestInstant(Date.parse(stopped_on) + dayMilliseconds)
    : null;
}

/** The part of a wallet that automatic top-up is about. */
interface ToppedUp {
  readonly automatic: AutomaticState;
  readonly auto_topup: AutoTopup | null;
  readonly topups: readonly PendingTopUp[];
}

/** Tells whether an order that the wallet has made by itself waits for its payment. */
export const hasAutomaticOrder = ({ topups }: Pick<ToppedUp, 'topups'>): boolean =>
  topups.some(({ automatic }) => automatic !== undefined);
