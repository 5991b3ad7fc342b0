import { newText, type RequestContext, type Routes, where } from '@counterfoil/engine/define';
import { oneOf, recordRoutes } from '../record/index.ts';
import { archiveCoupon, couponRecords, createCoupon, updateCoupon } from './coupon.ts';
import { couponRedemptions, redemptionsTable } from './redemptions.ts';
import { type Coupon, createCouponSchema, updateCouponSchema } from './schema.ts';

/** Adds how often coupons were redeemed, which another table has. */
const counted = async (context: RequestContext, shown: readonly Coupon[]): Promise<Coupon[]> => {
  const ids = shown.map(({ id }) => id);
  const page = { limit: Math.max(ids.length, 1), offset: 0 };
  const { items } = await context.read.list(redemptionsTable, page, [...where('id', 'in', ids)]);
  const totals = new Map(items.map(({ id, total }) => [id, total]));
  return shown.map((each) => ({ ...each, total_redemptions: totals.get(each.id) ?? 0 }));
};

const routes = recordRoutes(couponRecords, {
  tag: 'Coupons',
  right: 'coupon',
  embedding: {
    read: counted,
    written: async (context, shown) => {
      const redeemed = await context.load(couponRedemptions, shown.id);
      return { ...shown, total_redemptions: redeemed?.total ?? 0 };
    },
  },
});

const filters = {
  coupon_ids: oneOf('id', 255),
  coupon_codes: oneOf('coupon_code', 255, { ignoresCase: true }),
} as const;

export const couponRoutes = {
  'POST /coupons': routes.create({
    description: 'An amount or a percentage, for one billing period, several or all.',
    body: createCouponSchema,
    example: {
      body: {
        name: newText('Welcome'),
        coupon_code: newText('welcome'),
        type: 'percentage',
        percentage_off: '10',
        cadence: 'once',
      },
    },
    decide: createCoupon,
  }),
  'GET /coupons': routes.list(filters),
  'POST /coupons/search': routes.search('CouponSearch', filters),
  'GET /coupons/code/{code}': routes.getBy('code'),
  'GET /coupons/{id}': routes.get(),
  'PUT /coupons/{id}': routes.change({
    summary: 'Rename a coupon or replace its metadata',
    description: 'What it takes off, for whom and for how long never changes.',
    body: updateCouponSchema,
    example: { body: { name: newText('Renamed') } },
    decide: updateCoupon,
  }),
  'DELETE /coupons/{id}': routes.endWithMessage({
    description: 'It cannot be redeemed any more.',
    decide: archiveCoupon,
  }),
} satisfies Routes;
