import type { RequestContext } from '@counterfoil/engine/define';
import { type Instant, invalidField, invariant } from '@counterfoil/kernel';
import { couponRecords } from '../../coupons/index.ts';
import { existingSubscription, type SubscriptionDecision } from '../decisions.ts';
import { type Beside, nothingBeside } from '../modify/beside.ts';
import { subscription } from '../subscription.ts';
import { attachCoupon, detachCoupon } from './decisions.ts';
import { assertRedeemableAll, redeemAll } from './prepare.ts';
import type { CouponParams } from './schema.ts';

const pointer = '/coupon_params';

/** The command that lets a coupon count for a subscription, or count no more, after all that it refers to was found. */
export async function changingCoupon(
  context: RequestContext,
  id: string,
  params: CouponParams,
  at: Instant | null,
): Promise<SubscriptionDecision> {
  if (params.action === 'remove') {
    const { coupon_association_id: association_id } = params;
    invariant(association_id, 'a coupon that is removed is named');
    return detachCoupon(id, { association_id, pointer: `${pointer}/coupon_association_id` }, at);
  }
  if (params.subscription_id && params.subscription_id !== id) {
    throw invalidField(`${pointer}/subscription_id`, `must be ${id}, as in the path`);
  }
  const { id: coupon_id, name, discount, repetition } = await couponOf(context, params);
  const order = {
    id: context.newId('coupon_assoc'),
    ...{ coupon_id, name, discount, repetition },
    line_item_id: params.subscription_line_item_id ?? null,
    start_date: params.start_date ?? null,
    end_date: params.end_date ?? null,
    pointer,
  };
  return attachCoupon(id, order, at);
}

const couponOf = (context: RequestContext, { coupon_code: code }: CouponParams) => {
  invariant(code, 'a coupon that is added is named');
  return couponRecords.holder(context, code, 'coupon_params.coupon_code');
};

/** The redemption of a coupon that is added; nothing of one that is removed is given back. */
export function redemptionOf(context: RequestContext, id: string, params: CouponParams): Beside {
  if (params.action === 'remove') return nothingBeside;
  const redeeming = async () => {
    const { id: owner, coupons } = existingSubscription(await context.load(subscription, id), id);
    const { id: coupon_id } = await couponOf(context, params);
    return [owner, [{ coupon_id, pointer: `${pointer}/coupon_code` }], coupons] as const;
  };
  return {
    check: async () => assertRedeemableAll(context, ...(await redeeming())),
    before: async () => redeemAll(context, ...(await redeeming())),
    changed: async () => ({}),
  };
}
