import { reaction } from '@counterfoil/engine/define';
import type { InvoiceId } from '@counterfoil/kernel';
import { couponUse, returnCoupon } from './coupons.ts';
import { invoice } from './invoice.ts';

/** A void invoice gives back the use of the coupons that were taken off it, so that another one may have them (D57). */
export const couponsReturned = reaction(invoice, {
  name: 'coupons of a void invoice',
  on: {
    InvoiceVoided: async ({ aggregate_id }, context) => {
      const state = await context.load(invoice, aggregate_id);
      const used = state?.coupons.flatMap((coupon) => coupon.coupon_association_id ?? []) ?? [];
      for (const id of new Set(used)) {
        // Most coupons are for many invoices, and none has them for itself.
        if ((await context.load(couponUse, id)) === null) continue;
        await context.execute(couponUse, id, returnCoupon(aggregate_id as InvoiceId));
      }
    },
  },
});
