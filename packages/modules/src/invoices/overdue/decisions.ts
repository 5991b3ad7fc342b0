import { type Instant, shiftedBy } from '@counterfoil/kernel';
import type { SettingValue } from '../../settings/index.ts';
import type { InvoiceDecision } from '../decisions.ts';
import type { Invoice } from '../invoice.ts';
import { endsSubscriptionAt, fallsOverdueAt } from './falls-overdue.ts';

type SubscriptionConfig = SettingValue<'subscription_config'>;

/**
 * Notes that an invoice was not paid by its due date, once (E 15.7 B), and when its subscription ends if that stays so (E 10.11).
 * No event before then, and none once it was paid.
 *
 * @param isAwaited true where a subscription waits for its payment: that ends in any case
 */
export const fallOverdue =
  (config: SubscriptionConfig, isAwaited: boolean): InvoiceDecision =>
  (state, at) => {
    const due = fallsOverdueAt(state);
    if (state === null || due === null || due > at) return [];
    const ends_subscription_at = isAwaited
      ? shiftedBy(due, config.incomplete_expiry_days * dayMilliseconds)
      : endOfGrace(state, due, config);
    return [{ type: 'FellOverdue', data: { at: due, ends_subscription_at } }];
  };

const dayMilliseconds = 86_400_000;

/** Only what a subscription has settled ends it: an invoice of the caller says nothing of it. */
function endOfGrace(
  { cause }: Invoice,
  due: Instant,
  { auto_cancellation_enabled, grace_period_days }: SubscriptionConfig,
): Instant | null {
  const isOfSubscription = cause.kind === 'settlements' || cause.kind === 'threshold';
  return auto_cancellation_enabled && isOfSubscription
    ? shiftedBy(due, grace_period_days * dayMilliseconds)
    : null;
}

/** Notes that the subscription of an invoice has ended because of it. No event before its time, and none once it was paid. */
export const noteSubscriptionEnded = (): InvoiceDecision => (state, at) => {
  const end = endsSubscriptionAt(state);
  return end === null || end > at ? [] : [{ type: 'SubscriptionEnded', data: {} }];
};
