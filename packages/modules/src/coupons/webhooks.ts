import { publisher } from '@counterfoil/engine/define';
import { coupon, couponView } from './coupon.ts';

const messageTypes = {
  CouponCreated: 'coupon.created',
  CouponUpdated: 'coupon.updated',
  CouponArchived: 'coupon.deleted',
} as const;

/** Every change of a coupon is published, with the whole coupon as it is after the change. */
export const couponPublisher = publisher(coupon, ({ event, after }) => {
  const resource = couponView(after);
  return [{ type: messageTypes[event.type], resourceId: resource.id, body: { coupon: resource } }];
});
