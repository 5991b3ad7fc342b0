import { recordProjection } from '@counterfoil/engine/define';
import { comparedCode, coupon, couponView } from './coupon.ts';

/** One row per coupon: what `GET /coupons/{id}` answers. */
export const couponTable = recordProjection(coupon, {
  name: 'coupons',
  version: 1,
  view: couponView,
  columns: {
    name: { type: 'text', of: ({ name }) => name },
    coupon_code: {
      type: 'text',
      of: ({ coupon_code }) => (coupon_code === undefined ? null : comparedCode(coupon_code)),
      index: true,
    },
    type: { type: 'text', of: ({ type }) => type },
    cadence: { type: 'text', of: ({ cadence }) => cadence },
  },
});
