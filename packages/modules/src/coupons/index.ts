import { module } from '@counterfoil/engine/define';
import { coupon } from './coupon.ts';
import { couponTable } from './projection.ts';
import { couponPublicEvents } from './public-events.ts';
import { couponRoutes } from './routes.ts';

export {
  archiveCoupon,
  type CouponRecord,
  type CouponState,
  coupon,
  couponView,
  createCoupon,
  type Discount,
  type Repetition,
  updateCoupon,
} from './coupon.ts';
export { couponTable } from './projection.ts';
export { couponReference } from './reference.ts';
export { type Coupon, type CreateCoupon, couponSchema, createCouponSchema } from './schema.ts';

/** Discounts that customers can redeem. */
export const coupons = module({
  name: 'coupons',
  aggregates: [coupon],
  tables: [couponTable],
  routes: couponRoutes,
  publicEvents: [couponPublicEvents],
});

/** The routes with their exact types, for the typed client. */
export type CouponRoutes = typeof couponRoutes;
