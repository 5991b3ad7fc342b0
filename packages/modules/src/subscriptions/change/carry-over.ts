import { decimal, type Instant, sequencedId } from '@counterfoil/kernel';
import type { CouponData, OrderedCoupon } from '../coupons/association.ts';
import { fitsRhythm } from '../creation/offered-prices.ts';
import type { Order } from '../creation/order.ts';
import type { OrderedLine } from '../creation/ordered-line.ts';
import type { Granted, HeldEntitlement } from '../entitlements/granted.ts';
import type { Line, SoldPrice } from '../lines/line.ts';
import { pendingPause } from '../pauses/pause.ts';
import { comingPhases } from '../phases/phase.ts';
import type { Subscription } from '../subscription.ts';
import type { CarriedOver } from './carried-over.ts';
import {
  carriedAddon,
  continuedGrants,
  isLeft,
  lastingAddons,
  reordered,
} from './carried-parts.ts';

/** The order of the subscription to come, with everything that it takes along. */
export interface Carried {
  readonly order: Order;
  readonly items: readonly CarriedOver[];
}

/**
 * Takes along what a subscription has beyond its plan, as far as it means something under another one (E 13 B): quantities
 * of what both plans are charged for, lines beside the plan, and overrides of entitlements.
 *
 * @param order of the target plan
 * @param pricesOfPlan ids of the prices of the plan that is left
 */
export function carriedOver(
  current: Subscription,
  order: Order,
  pricesOfPlan: ReadonlySet<string>,
  at: Instant,
): Carried {
  const items: CarriedOver[] = [];
  const told = (kind: CarriedOver['kind'], id: string, reason: CarriedOver['reason']): void => {
    items.push({ kind, id, carried: reason === 'same_terms', reason });
  };
  const lines = [...order.lines];
  const extra: OrderedLine[] = [];
  const running = current.lines.filter((line) => isLeft(line, at) && !isOfLaterPhase(line, at));
  const planned = running.filter((line) => isOfPlan(line, pricesOfPlan));
  for (const line of planned) {
    if (line.entity_type === 'subscription') told('price', line.id, 'of_old_plan');
    if (!isCounted(line.price) || decimal(line.quantity).eq(leastOf(line.price))) continue;
    const place = counterpart(line, planned, lines);
    const found = place === null ? undefined : lines[place];
    if (place === null || found === undefined) {
      told('quantity', line.id, 'no_counterpart');
    } else if (decimal(line.quantity).cmp(leastOf(found.price)) < 0) {
      told('quantity', line.id, 'below_minimum');
    } else {
      lines[place] = { ...found, quantity: line.quantity };
      told('quantity', line.id, 'same_terms');
    }
  }
  const addons = lastingAddons(current, at).flatMap((addon) => {
    const next = carriedAddon(current, addon, order, at);
    told('addon', addon.id, next ? 'same_terms' : 'other_rhythm');
    return next ?? [];
  });
  const continued_grants = continuedGrants(current, { id: order.id, addons }, at);
  for (const grant of current.grants) {
    if (grant.source_id !== grant.id || grant.next_index === null) continue;
    told('credit_grant', grant.id, 'same_terms');
  }
  for (const line of running.filter((each) => isBeside(each, pricesOfPlan))) {
    const reason = reasonFor(line, order);
    if (reason === 'same_terms') extra.push(taken(current, line, order, at));
    told('line', line.id, reason);
  }
  const entitlements = [...order.entitlements];
  for (const [index, own] of overridesOf(current).entries()) {
    const next = order.entitlements.find(
      (each) => each.feature_id === own.feature_id && each.feature_type === own.feature_type,
    );
    const isOfAddon = addons.some((addon) =>
      addon.entitlements.some(({ entitlement_id: id }) => id === own.parent_entitlement_id),
    );
    const keeps = isOfAddon || own.parent_entitlement_id === null;
    if (keeps) entitlements.push(kept(own, order, at, index));
    else if (next) entitlements.push(overriding(next, own, order, at, index));
    told('entitlement', own.entitlement_id, keeps || next ? 'same_terms' : 'no_counterpart');
  }
  const { commitment } = current;
  const keeps = commitment !== null && lasts(commitment, order.rhythm);
  if (commitment !== null) told('commitment', current.id, keeps ? 'same_terms' : 'other_rhythm');
  for (const { id } of comingPhases(current.phases)) told('phase', id, 'ends_with_plan');
  const pause = pendingPause(current);
  if (pause !== null) told('pause', pause.id, 'ends_with_plan');
  if (current.cancellation !== null) {
    told('cancellation', current.cancellation.schedule_id, 'ends_with_plan');
  }
  const coupons = current.coupons.filter(({ end_date }) => end_date === null || end_date > at);
  for (const { id, line_item_id, phase_id } of coupons) {
    if (phase_id !== null) told('coupon', id, 'ends_with_plan');
    else told('coupon', id, line_item_id === null ? 'same_terms' : 'no_counterpart');
  }
  for (const { tax_rate_id } of order.tax_associations) told('tax', tax_rate_id, 'same_terms');
  if (current.subscription_status === 'trialing') told('trial', current.id, 'ends_with_plan');
  const carried = {
    lines: [...lines, ...extra],
    addons,
    continued_grants,
    entitlements,
    commitment: keeps ? commitment : null,
    coupons: coupons
      .filter(({ line_item_id, phase_id }) => line_item_id === null && phase_id === null)
      .map(couponTaken),
  };
  return { order: { ...order, ...carried }, items };
}

/** Tells whether the terms of a commitment are whole periods of a rhythm. */
const lasts = (
  { duration }: NonNullable<Subscription['commitment']>,
  rhythm: Order['rhythm'],
): boolean =>
  duration === null || fitsRhythm({ billing_period: duration, billing_period_count: 1 }, rhythm);

/** Tells whether a line comes with a phase that has not begun. */
const isOfLaterPhase = ({ start_date, subscription_phase_id }: Line, at: Instant): boolean =>
  subscription_phase_id !== null && start_date > at;

/** A coupon as the next subscription has it: it was redeemed, and counts on from where it began. */
const couponTaken = (coupon: CouponData): OrderedCoupon => ({
  coupon_id: coupon.coupon_id,
  name: coupon.name,
  discount: coupon.discount,
  repetition: coupon.repetition,
  price_id: null,
  phase_id: null,
  start_date: coupon.start_date,
  end_date: coupon.end_date,
  pointer: '',
});

const isOfPlan = ({ entity_type, price }: Line, pricesOfPlan: ReadonlySet<string>): boolean =>
  entity_type === 'plan' ||
  (entity_type === 'subscription' &&
    (pricesOfPlan.has(price.id) || pricesOfPlan.has(price.parent_price_id ?? '')));

const isBeside = (line: Line, pricesOfPlan: ReadonlySet<string>): boolean =>
  line.entity_type === 'subscription' && !isOfPlan(line, pricesOfPlan);

/** Tells whether a price is charged again and again by a quantity. */
const isCounted = ({ type, billing_period }: SoldPrice): boolean =>
  type === 'FIXED' && billing_period !== 'ONETIME';

const leastOf = ({ min_quantity }: SoldPrice) =>
  decimal(min_quantity === null || min_quantity === '0' ? '1' : min_quantity);

/** The line of the target plan for the same thing: with the same name, or the only one on both sides. */
function counterpart(
  line: Line,
  planned: readonly Line[],
  lines: readonly OrderedLine[],
): number | null {
  const counted = lines.flatMap(({ price }, place) => (isCounted(price) ? [place] : []));
  const named = counted.filter((place) => lines[place]?.display_name === line.display_name);
  if (named.length === 1) return named[0] ?? null;
  const isOnly =
    counted.length === 1 && planned.filter(({ price }) => isCounted(price)).length === 1;
  return isOnly ? (counted[0] ?? null) : null;
}

function reasonFor({ price }: Line, { rhythm }: Order): CarriedOver['reason'] {
  if (price.billing_period === 'ONETIME') return 'charged_once';
  return fitsRhythm(price, rhythm) ? 'same_terms' : 'other_rhythm';
}

/** A line beside the plan, as the next subscription orders it. */
const taken = (
  current: Subscription,
  line: Line,
  { id, plan_name }: Order,
  at: Instant,
): OrderedLine => ({
  ...reordered(current, line, at),
  entity_type: 'subscription',
  entity_id: id,
  entity_name: plan_name,
  price: line.price.entity_type === 'SUBSCRIPTION' ? { ...line.price, entity_id: id } : line.price,
});

const overridesOf = ({ id, entitlements }: Subscription): readonly HeldEntitlement[] =>
  entitlements.filter(({ entity_id }) => entity_id === id);

/** One that stands beside what the plan gives, or in the place of what an add-on gives that is taken along. */
const kept = (
  { stamps: _, ...own }: HeldEntitlement,
  { id }: Order,
  at: Instant,
  index: number,
) => ({
  ...own,
  entitlement_id: sequencedId('ent', at, id, index),
  entity_id: id,
});

const overriding = (
  next: Granted,
  { is_enabled, usage_limit, static_value, start_date, end_date }: Granted,
  { id }: Order,
  at: Instant,
  index: number,
): Granted => ({
  ...next,
  is_enabled,
  usage_limit,
  static_value,
  entitlement_id: sequencedId('ent', at, id, index),
  entity_type: 'SUBSCRIPTION',
  entity_id: id,
  parent_entitlement_id: next.entitlement_id,
  start_date,
  end_date,
});
