import type { Instant, SubscriptionId } from '@counterfoil/kernel';
import { instantOf } from '@counterfoil/kernel';
import { createdData, type Order } from './creation/order.ts';
import type { OrderedLine } from './creation/ordered-line.ts';
import { noFamily } from './families/family.ts';
import type { SoldPrice } from './lines/line.ts';
import { blankSubscription, foldAll, type Subscription } from './subscription.ts';
import { dueEvents } from './time/due.ts';

/** The instant so many hours after the start of 2026. */
export const hour = (hours: number): Instant =>
  instantOf(Date.UTC(2026, 0, 1) + hours * 60 * 60 * 1000);

/** A line as it is ordered: ten dollars a month in advance unless it says otherwise. */
export const lineOf = (price: Partial<SoldPrice> = {}, line: Partial<OrderedLine> = {}) =>
  ({
    price: {
      id: 'price_01',
      entity_type: 'PLAN',
      entity_id: 'plan_01',
      type: 'FIXED',
      currency: 'usd',
      billing_period: 'MONTHLY',
      billing_period_count: 1,
      billing_cadence: 'RECURRING',
      invoice_cadence: 'ADVANCE',
      meter_id: null,
      min_quantity: null,
      trial_period_days: null,
      billing_model: 'FLAT_FEE',
      amount: '10',
      tier_mode: null,
      tiers: null,
      transform_quantity: null,
      price_unit: null,
      lookup_key: null,
      display_name: null,
      description: null,
      group_id: null,
      metadata: {},
      parent_price_id: null,
      start_date: hour(-100_000),
      end_date: null,
      ...price,
    },
    entity_type: 'plan',
    entity_id: 'plan_01',
    entity_name: 'Pro',
    meter_display_name: null,
    display_name: 'Pro',
    quantity: price.type === 'USAGE' ? '0' : '1',
    from: null,
    end_date: null,
    subscription_phase_id: null,
    commitment: null,
    metadata: {},
    ...line,
  }) as unknown as OrderedLine;

/** An order as it is after all look-ups: a month at a time from the start of 2026 on, unless it says otherwise. */
export const orderOf = (order: Partial<Order> = {}): Order =>
  ({
    id: 'subs_01' as SubscriptionId,
    is_draft: false,
    customer_id: 'cust_01',
    plan_id: 'plan_01',
    plan_name: 'Pro',
    currency: 'usd',
    metadata: {},
    lookup_key: null,
    start_date: hour(0),
    end_date: null,
    timezone: 'UTC',
    billing_cycle: 'anniversary',
    billing_anchor: null,
    rhythm: { unit: 'MONTHLY', count: 1 },
    trial_days: null,
    proration_behavior: 'create_prorations',
    collection_method: 'charge_automatically',
    payment_behavior: 'default_active',
    payment_terms: null,
    gateway_payment_method_id: null,
    lines: [lineOf()],
    entitlements: [],
    grants: [],
    own_grants: [],
    continued_grants: [],
    addons: [],
    family: noFamily,
    tax_associations: [],
    coupons: [],
    commitment: null,
    phases: [],
    ...order,
  }) as unknown as Order;

/** A subscription as it is at an instant, from its order or from what it was before. */
export function lived(from: Order | Subscription, at: Instant): Subscription {
  const begun =
    'next_index' in from
      ? from
      : blankSubscription(createdData(from, from.start_date), from.start_date);
  return foldAll(begun, dueEvents(begun, at));
}
