import {
  type Instant,
  millisecondsOf,
  type Span,
  type SubscriptionId,
  withoutNulls,
} from '@counterfoil/kernel';
import { lengthened } from '../settlement/index.ts';
import type { Pause } from './pause.ts';
import type { BillingImpact, PauseResource } from './schema.ts';

/** A pause as the API shows it. */
export const pauseView = (subscription_id: SubscriptionId, pause: Pause): PauseResource => {
  const { status, start, end, original_period, bills_usage, ...rest } = pause;
  return withoutNulls({
    ...rest,
    status: 'published' as const,
    subscription_id,
    pause_status: status,
    pause_start: start,
    pause_end: end,
    original_period_start: original_period?.start ?? null,
    original_period_end: original_period?.end ?? null,
    bill_usage: bills_usage,
  });
};

const dayMilliseconds = 24 * 60 * 60 * 1000;

/**
 * The effect of a pause on the period that ran when it was ordered. A pause without an end says nothing of how long that will
 * last.
 */
export function billingImpact(
  { start, end, original_period: period, status }: Pause,
  { net_amount }: { readonly net_amount: string },
): BillingImpact {
  const isGivenUp = status === 'cancelled';
  const span: Span | null = end === null || isGivenUp ? null : { start, end };
  const adjusted = period && span && lengthened(period, span);
  const next = period && span && nextBilling(period, span);
  return withoutNulls({
    original_period_start: period?.start ?? null,
    original_period_end: period?.end ?? null,
    adjusted_period_start: adjusted?.start ?? null,
    adjusted_period_end: adjusted?.end ?? null,
    next_billing_date: isGivenUp ? (period?.end ?? null) : next,
    pause_duration_days:
      span && Math.floor((millisecondsOf(span.end) - millisecondsOf(span.start)) / dayMilliseconds),
    current_period_adjustment: net_amount,
  });
}

/** The next instant at which something is charged: the end of the period, or of the pause that follows on it. */
const nextBilling = (period: Span, pause: Span): Instant =>
  pause.start >= period.end ? pause.end : lengthened(period, pause).end;
