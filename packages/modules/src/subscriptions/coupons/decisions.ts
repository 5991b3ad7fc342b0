import {
  type CouponAssociationId,
  type Instant,
  invalidField,
  invalidOperation,
  laterOf,
  type SubscriptionLineId,
} from '@counterfoil/kernel';
import { acting, type SubscriptionDecision } from '../decisions.ts';
import { quotedInstant } from '../modify/quoted-instant.ts';
import type { Subscription } from '../subscription.ts';
import { type CouponData, currencyOf, maximumCoupons, maximumRedeemed } from './association.ts';

/** A coupon that a subscription is to redeem later than it began. */
export interface CouponOrder
  extends Pick<CouponData, 'coupon_id' | 'name' | 'discount' | 'repetition' | 'end_date'> {
  readonly id: CouponAssociationId;
  readonly line_item_id: SubscriptionLineId | null;
  /** Null: now. */
  readonly start_date: Instant | null;
  /** The place of its members in the request. */
  readonly pointer: string;
}

/** Lets a coupon count for a subscription or for a line of it, from now on or later. What was invoiced before stays. */
export const attachCoupon =
  (id: string, order: CouponOrder, quoted: Instant | null): SubscriptionDecision =>
  (state, now) =>
    acting(state, id, now, (current) => {
      const at = quotedInstant(current, quoted, now);
      const { pointer, ...ordered } = order;
      const start_date = order.start_date ?? at;
      assertFits(current, { ...order, start_date }, at);
      assertFewCoupons(current, 1, at);
      const coupon = { ...ordered, start_date, phase_id: null, metadata: {} };
      return [{ type: 'CouponAttached', data: { coupon } }];
    });

/** Tells whether a coupon counts at an instant, or after it. */
const lasts = ({ end_date }: Pick<CouponData, 'end_date'>, at: Instant): boolean =>
  end_date === null || end_date > at;

function assertFits(
  current: Subscription,
  { pointer, start_date: start, ...order }: CouponOrder & { readonly start_date: Instant },
  at: Instant,
): void {
  const { currency, opened, end_date: last, lines, coupons } = current;
  const taken = currencyOf(order);
  if (taken !== null && taken !== currency) {
    throw invalidField(`${pointer}/coupon_code`, `takes an amount of ${taken}, not of ${currency}`);
  }
  const from = opened?.start ?? current.start_date;
  if (start < from) {
    throw invalidField(`${pointer}/start_date`, `must not be before the period that runs, ${from}`);
  }
  if (last !== null && start >= last) {
    throw invalidField(
      `${pointer}/start_date`,
      `must be before the end of the subscription, ${last}`,
    );
  }
  const { end_date, line_item_id, coupon_id } = order;
  if (end_date !== null && end_date <= laterOf(start, at)) {
    throw invalidField(`${pointer}/end_date`, 'must be after its start, and lie ahead');
  }
  if (line_item_id !== null && !lines.some(({ id }) => id === line_item_id)) {
    throw invalidField(
      `${pointer}/subscription_line_item_id`,
      'is no line of the subscription that runs',
    );
  }
  const same = coupons.find(
    (each) =>
      each.coupon_id === coupon_id && each.line_item_id === line_item_id && lasts(each, start),
  );
  if (!same) return;
  throw invalidOperation(`The coupon counts there already, as ${same.id}.`, {
    reason: 'exists',
    field: `${pointer}/coupon_code`.slice(1).replaceAll('/', '.'),
  });
}

/** Throws a Problem for more coupons than a subscription may have at once, or in its life. */
export function assertFewCoupons({ coupons }: Subscription, added: number, at: Instant): void {
  const limits = [
    [maximumCoupons, coupons.filter((each) => lasts(each, at)).length, 'at once'],
    [maximumRedeemed, coupons.length, 'in its life'],
  ] as const;
  for (const [limit, has, when] of limits) {
    if (has + added <= limit) continue;
    throw invalidOperation(`A subscription has at most ${limit} coupons ${when}.`, {
      reason: 'limit_reached',
      limit,
    });
  }
}

/**
 * Lets a coupon count no more, from now on; one that was to begin later never does. It stays redeemed. Throws a Problem for one
 * that the subscription does not have, or that has ended.
 */
export const detachCoupon =
  (
    id: string,
    { association_id, pointer }: { readonly association_id: string; readonly pointer: string },
    quoted: Instant | null,
  ): SubscriptionDecision =>
  (state, now) =>
    acting(state, id, now, (current) => {
      const at = quotedInstant(current, quoted, now);
      const coupon = current.coupons.find((each) => each.id === association_id);
      if (!coupon) throw invalidField(pointer, 'is no coupon of the subscription');
      const end_date = laterOf(at, coupon.start_date);
      if (coupon.end_date !== null && coupon.end_date <= end_date) {
        throw invalidOperation(`The coupon ${association_id} ended at ${coupon.end_date}.`, {
          reason: 'ended',
        });
      }
      return [{ type: 'CouponDetached', data: { coupon_association_id: coupon.id, end_date } }];
    });
