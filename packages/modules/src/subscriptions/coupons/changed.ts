import { createdStamps, type Stamped, updatedStamps } from '@counterfoil/kernel';
import type { SubscriptionEvent } from '../events.ts';
import type { CouponData, HeldCoupon } from './association.ts';

type Stamp = Stamped<SubscriptionEvent>['stamp'];

/** The events that give a subscription coupons, or change those that it has. */
export type CouponChange = Extract<
  SubscriptionEvent,
  { type: 'SubscriptionActivated' | 'CouponAttached' | 'CouponDetached' | 'PhaseAdded' }
>;

/** Coupons that come with an event. */
export const heldCoupons = (coupons: readonly CouponData[], stamp: Stamp): readonly HeldCoupon[] =>
  coupons.map((coupon) => ({ ...coupon, stamps: createdStamps(stamp) }));

/** The coupons that an event brings. */
export function broughtCoupons(event: SubscriptionEvent): readonly CouponData[] {
  switch (event.type) {
    case 'SubscriptionCreated':
    case 'PhaseAdded':
      return event.data.coupons;
    case 'CouponAttached':
      return [event.data.coupon];
    default:
      return [];
  }
}

/** The new dates that an event gives to coupons, by their ids. */
export function couponDates(
  event: SubscriptionEvent,
): ReadonlyMap<string, Partial<Pick<CouponData, 'start_date' | 'end_date'>>> {
  switch (event.type) {
    case 'SubscriptionActivated':
      return new Map(event.data.coupons.map(({ id, start_date }) => [id, { start_date }]));
    case 'CouponDetached': {
      const { coupon_association_id, end_date } = event.data;
      return new Map([[coupon_association_id, { end_date }]]);
    }
    default:
      return new Map();
  }
}

/** The coupons of a subscription after an event that is about them. */
export function couponsAfter(
  coupons: readonly HeldCoupon[],
  event: Stamped<CouponChange>,
): readonly HeldCoupon[] {
  const dates = couponDates(event);
  const kept = coupons.map((coupon) => {
    const changes = dates.get(coupon.id);
    if (!changes) return coupon;
    return { ...coupon, ...changes, stamps: { ...coupon.stamps, ...updatedStamps(event.stamp) } };
  });
  return [...kept, ...heldCoupons(broughtCoupons(event), event.stamp)];
}
