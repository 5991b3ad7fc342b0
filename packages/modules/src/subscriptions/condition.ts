import { type Instant, type Span, type Stamp, zeroText } from '@counterfoil/kernel';
import type { SubscriptionEvent } from './events.ts';
import type { Settlement, SettlementLine } from './settlement/index.ts';
import type { AwaitedSettlement, Subscription } from './state.ts';
import { type SubscriptionStatus, waitsForPayment } from './values.ts';

/** The status with which a subscription begins to live. */
export const startingStatus = (
  trial: Span | null,
  terms: Pick<Subscription, 'payment_behavior'>,
): SubscriptionStatus => (trial === null ? chargedStatus(terms) : 'trialing');

/** The status with which a subscription begins to be charged (E 10.1): under the condition of its first payment, or not. */
export const chargedStatus = ({
  payment_behavior,
}: Pick<Subscription, 'payment_behavior'>): SubscriptionStatus =>
  waitsForPayment(payment_behavior) ? 'incomplete' : 'active';

/** A subscription whose first period is paid for. What came before that was not lived through: its renewals are not announced. */
export const paidFor = (subscription: Subscription, stamp: Stamp): Subscription => ({
  ...subscription,
  subscription_status: 'active',
  awaits: null,
  live_since: stamp.occurred_at,
});

/** The settlement that is to be paid: the first of one that waits for that. */
export const awaitedAfter = (
  { subscription_status, awaits }: Subscription,
  { settlement_id, reason, at }: Settlement,
): AwaitedSettlement | null =>
  subscription_status === 'incomplete' && awaits === null ? { settlement_id, reason, at } : awaits;

/** A subscription that waits for its first payment is paid for where its first period charges nothing. */
export function withNothingToPay(
  { subscription_status }: Subscription,
  at: Instant,
  lines: readonly SettlementLine[],
): readonly SubscriptionEvent[] {
  const isCharged = lines.some((line) => line.kind === 'charge' && line.amount !== zeroText);
  if (subscription_status !== 'incomplete' || isCharged) return [];
  return [{ type: 'FirstPaymentMade', data: { at, invoice_id: null } }];
}
