import {
  decimal,
  existing,
  type Instant,
  type RecordStamps,
  textOf,
  withoutNulls,
  zero,
} from '@counterfoil/kernel';
import { type CreditGrant, type PriceRecord, priceView } from '../offers/index.ts';
import { shownCommitment, shownLineCommitment } from './commitments/view.ts';
import { couponAssociationView } from './coupons/view.ts';
import type { Cancellation } from './decisions.ts';
import type { SubscriptionEvent } from './events.ts';
import { payerOf, typeOf } from './families/family.ts';
import type { GrantData } from './grants/grant.ts';
import type { Line, LineData } from './lines/line.ts';
import { pendingPause } from './pauses/pause.ts';
import { pauseView } from './pauses/view.ts';
import { phaseView } from './phases/view.ts';
import type {
  CancelledSubscription,
  LineItem,
  SettlementSum,
  SubscriptionResource,
} from './schema.ts';
import type { SettlementLine } from './settlement/index.ts';
import type { Subscription, SubscriptionState } from './subscription.ts';
import { currentPeriod } from './time/steps.ts';

/** The fields of a subscription that its lines show. */
type LineOwner = Pick<Subscription, 'id' | 'customer_id'>;

/** A line as the API shows it. */
export function lineItemView(
  { id: subscription_id, customer_id }: LineOwner,
  stamps: RecordStamps,
  line: LineData | Line,
): LineItem {
  const { price } = line;
  // A price that was sold is no record of the catalogue: its times are those of its line.
  const shownPrice = (figures: Partial<LineData['price']> = {}) =>
    priceView({
      ...{ ...price, ...figures, ...stampsOf(stamps) },
      status: 'published',
      is_final: false,
    } as unknown as PriceRecord);
  return withoutNulls({
    id: line.id,
    ...stampsOf(stamps),
    status: 'published' as const,
    subscription_id,
    customer_id,
    entity_type: line.entity_type,
    entity_id: line.entity_id,
    plan_display_name: line.entity_type === 'plan' ? line.entity_name : null,
    addon_association_id: line.addon_association_id,
    price_id: price.id,
    price: shownPrice(),
    price_type: price.type,
    price_unit: price.price_unit?.code ?? null,
    price_unit_id: price.price_unit?.id ?? null,
    meter_id: price.meter_id,
    meter_display_name: line.meter_display_name,
    display_name: line.display_name,
    currency: price.currency,
    quantity: line.quantity,
    invoice_cadence: price.invoice_cadence,
    billing_period: price.billing_period,
    billing_period_count: price.billing_period_count,
    start_date: line.start_date,
    end_date: line.end_date,
    ...shownLineCommitment(line.commitment, shownPrice),
    subscription_phase_id: line.subscription_phase_id,
    metadata: line.metadata,
  });
}

/** The stamps of a record, without its other members. */
export const stampsOf = (stamps: RecordStamps): RecordStamps => ({
  tenant_id: stamps.tenant_id,
  environment_id: stamps.environment_id,
  created_at: stamps.created_at,
  created_by: stamps.created_by,
  updated_at: stamps.updated_at,
  updated_by: stamps.updated_by,
});

/** A grant of credits as a subscription shows it: its times are those of the subscription. */
export function grantView(
  owner: RecordStamps & { readonly id: string; readonly plan_id: string | null },
  grant: GrantData,
): CreditGrant {
  const { id, name, credits, period, period_count, start_date, metadata } = grant;
  const isOwn = grant.source_id === id;
  return withoutNulls({
    id,
    ...stampsOf(owner),
    status: 'published' as const,
    name,
    scope: 'SUBSCRIPTION' as const,
    plan_id: isOwn || grant.addon_association_id !== null ? null : owner.plan_id,
    subscription_id: owner.id,
    credits,
    cadence: period === null ? ('ONETIME' as const) : ('RECURRING' as const),
    period,
    period_count: period === null ? null : period_count,
    expiration_type: grant.expiration_type,
    expiration_duration: grant.expiration_duration,
    expiration_duration_unit: grant.expiration_duration_unit,
    priority: grant.priority,
    conversion_rate: grant.conversion_rate,
    topup_conversion_rate: grant.topup_conversion_rate,
    credit_grant_anchor: start_date,
    start_date,
    end_date: grant.end_date,
    metadata,
  });
}

/** The subscription as the API, the read model and the webhooks show it. */
export function subscriptionView(state: SubscriptionState): SubscriptionResource {
  const shown = existing(state, 'subscription');
  const { cycle, trial, cancellation, pauses } = shown;
  const period = currentPeriod(shown);
  return withoutNulls({
    id: shown.id,
    ...stampsOf(shown),
    status: shown.status,
    version: 1,
    subscription_status: shown.subscription_status,
    subscription_type: typeOf(shown),
    customer_id: shown.customer_id,
    parent_subscription_id: shown.family.parent?.subscription_id ?? null,
    invoicing_customer_id: payerOf(shown),
    customer_timezone: shown.timezone,
    plan_id: shown.plan_id,
    lookup_key: shown.lookup_key,
    currency: shown.currency,
    billing_anchor: cycle.anchor,
    billing_cycle: shown.billing_cycle,
    billing_cadence: 'RECURRING' as const,
    billing_period: cycle.unit,
    billing_period_count: cycle.count,
    start_date: shown.start_date,
    end_date: shown.end_date,
    trial_start: trial?.start ?? null,
    trial_end: trial?.end ?? null,
    current_period_start: period.start,
    current_period_end: period.end,
    cancel_at: cancellation?.cancel_at ?? shown.cancelled_at,
    cancel_at_period_end: cancellation?.cancellation_type === 'end_of_period',
    cancelled_at: shown.cancelled_at,
    proration_behavior: shown.proration_behavior,
    collection_method: shown.collection_method,
    payment_behavior: shown.payment_behavior,
    payment_terms: shown.payment_terms,
    gateway_payment_method_id: shown.gateway_payment_method_id,
    auto_invoice_threshold: shown.auto_invoice_threshold,
    pause_status: pauses.at(-1)?.status ?? ('none' as const),
    active_pause_id: pendingPause(shown)?.id ?? null,
    ...shownCommitment(shown.commitment),
    line_items: shown.lines.map((line) => lineItemView(shown, shown, line)),
    credit_grants: shown.grants.map((grant) => grantView(shown, grant)),
    pauses: pauses.map((pause) => pauseView(shown.id, pause)),
    phases: shown.phases.map((phase) => phaseView(shown, phase)),
    coupon_associations: shown.coupons.map(({ stamps, ...association }) =>
      couponAssociationView({ association, subscription_id: shown.id, stamps }),
    ),
    metadata: shown.metadata,
  });
}

/** The lines of a settlement on the wire. */
export const linesView = (lines: readonly SettlementLine[]): SettlementSum['lines'] =>
  lines.map((line) =>
    line.kind === 'usage' ? { ...line, excluded: [...line.excluded] } : { ...line },
  );

/** The charges and credits of all settlements of one operation together (D66). */
export const settlementSum = (events: readonly SubscriptionEvent[]): SettlementSum => {
  const settlements = events.flatMap((event) =>
    event.type === 'SettlementRecorded' ? [event.data] : [],
  );
  const sum = (name: 'credit_amount' | 'charge_amount' | 'net_amount') =>
    textOf(settlements.reduce((all, each) => all.plus(decimal(each[name])), zero));
  return {
    credit_amount: sum('credit_amount'),
    charge_amount: sum('charge_amount'),
    net_amount: sum('net_amount'),
    lines: linesView(settlements.flatMap(({ lines }) => lines)),
  };
};

/** The answer of a cancellation: when it takes effect, and what it charges and gives back. */
export function cancelledView(
  subscription: Subscription,
  shown: SubscriptionResource,
  { cancellation_type, reason }: Pick<Cancellation, 'cancellation_type' | 'reason'>,
  events: readonly SubscriptionEvent[],
  processed_at: Instant,
): CancelledSubscription {
  const { id, cancelled_at, cancellation, subscription_status: status } = subscription;
  const effective_date = cancelled_at ?? cancellation?.cancel_at ?? processed_at;
  const settlement = settlementSum(events.filter(isOfCancellation));
  return withoutNulls({
    subscription_id: id,
    status,
    cancellation_type,
    effective_date,
    processed_at,
    reason,
    schedule_id: cancellation?.schedule_id ?? null,
    message:
      status === 'cancelled'
        ? `The subscription ended at ${effective_date}.`
        : `The subscription ends at ${effective_date}.`,
    total_credit_amount: settlement.credit_amount,
    proration_details: settlement.lines.flatMap((line) =>
      line.kind === 'credit'
        ? [
            {
              line_item_id: line.line_item_id,
              credit_amount: line.amount,
              charged_amount: line.charged,
              period_start: line.whole.start as Instant,
              period_end: line.whole.end as Instant,
            },
          ]
        : [],
    ),
    settlement,
    subscription: shown,
  });
}

const isOfCancellation = (event: SubscriptionEvent): boolean =>
  event.type === 'SettlementRecorded' && event.data.reason === 'cancelled';
