import { module } from '@counterfoil/engine/define';
import { coupon, couponRecords } from './coupon.ts';
import { couponRedemptions, redemptionsTable } from './redemptions.ts';
import { couponRoutes } from './routes.ts';

export { coupon, couponRecords, discountData, repetitionData } from './coupon.ts';
export {
  assertRedeemable,
  couponRedemptions,
  dueInvoices,
  duePending,
  redeemCoupon,
  redeemForInvoice,
  redemptionsTable,
  returnOfInvoice,
  returnRedemption,
  settleInvoices,
  settleRedemptions,
} from './redemptions.ts';
export { couponSchema } from './schema.ts';

/** Discounts that customers can redeem. */
export const coupons = module({
  name: 'coupons',
  aggregates: [coupon, couponRedemptions],
  tables: [couponRecords.table, redemptionsTable],
  routes: couponRoutes,
  publicEvents: [couponRecords.publicEvents],
});

/** The routes with their exact types, for the typed client. */
export type CouponRoutes = typeof couponRoutes;
