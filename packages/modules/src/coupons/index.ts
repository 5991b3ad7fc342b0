import { module } from '@counterfoil/engine/define';
import { coupon, couponRecords } from './coupon.ts';
import { couponRoutes } from './routes.ts';

export { coupon, couponRecords } from './coupon.ts';

/** Discounts that customers can redeem. */
export const coupons = module({
  name: 'coupons',
  aggregates: [coupon],
  tables: [couponRecords.table],
  routes: couponRoutes,
  publicEvents: [couponRecords.publicEvents],
});

/** The routes with their exact types, for the typed client. */
export type CouponRoutes = typeof couponRoutes;
