import { newText, type Routes } from '@counterfoil/engine/define';
import { oneOf, recordRoutes } from '../record/index.ts';
import { archiveCoupon, couponRecords, createCoupon, updateCoupon } from './coupon.ts';
import { createCouponSchema, updateCouponSchema } from './schema.ts';

const routes = recordRoutes(couponRecords, { tag: 'Coupons', right: 'coupon' });

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
