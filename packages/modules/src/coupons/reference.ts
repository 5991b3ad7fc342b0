import type { RequestContext } from '@counterfoil/engine/define';
import { referredRecord } from '../references.ts';
import { type CouponRecord, coupon } from './coupon.ts';

/**
 * The coupon that a field of a request names, from the log and so never behind. Unknown: 404 naming
 * the field; archived: 400.
 */
export const couponReference = (
  context: RequestContext,
  id: string,
  field = 'coupon_id',
): Promise<CouponRecord> => referredRecord(context, coupon, { id, what: 'coupon', field });
