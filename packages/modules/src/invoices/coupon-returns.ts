import { type ReactionContext, reaction } from '@counterfoil/engine/define';
import { existing, type InvoiceId } from '@counterfoil/kernel';
import { subscription } from '../subscriptions/index.ts';
import { couponUse, isForOne, returnCoupon } from './coupons.ts';
import { type Invoice, invoice } from './invoice.ts';

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

/**
 * A coupon that is for one invoice is taken while that is computed, which may happen several times until it comes out the same twice, or after
 * a process has died. One that takes nothing off in the end is left to the invoices that follow.
 */
export const couponsLeft = reaction(invoice, {
  name: 'coupons that an invoice has not needed',
  on: {
    InvoiceFinalized: ({ aggregate_id: id }, context) => leaveUnneeded(context, id),
    InvoiceSkipped: ({ aggregate_id: id }, context) => leaveUnneeded(context, id),
  },
});

async function leaveUnneeded(context: ReactionContext, id: string): Promise<void> {
  const state = existing(await context.load(invoice, id), 'invoice');
  if (state.cause.kind !== 'settlements') return;
  const used = new Set(state.coupons.map((coupon) => coupon.coupon_association_id));
  for (const host of hostsOf(state, state.cause.subscription_id)) {
    const { coupons = [] } = (await context.load(subscription, host)) ?? {};
    for (const coupon of coupons.filter((each) => isForOne(each) && !used.has(each.id))) {
      const use = await context.load(couponUse, coupon.id);
      if (use?.invoice_id !== state.id) continue;
      await context.execute(couponUse, coupon.id, returnCoupon(state.id));
    }
  }
}

/** The subscriptions whose coupons an invoice may have taken. */
const hostsOf = ({ lines }: Invoice, own: string): ReadonlySet<string> =>
  new Set([own, ...lines.flatMap(({ subscription_id }) => subscription_id ?? [])]);
