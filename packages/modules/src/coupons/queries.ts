import {
  type Found,
  type Page,
  pageRequest,
  type RequestContext,
  searchFilters,
  where,
} from '@counterfoil/engine/define';
import { notFound } from '@counterfoil/kernel';
import type { z } from 'zod';
import { foundById } from '../references.ts';
import { comparedCode } from './coupon.ts';
import { couponTable } from './projection.ts';
import type { Coupon, couponSearchSchema } from './schema.ts';

type CouponSearch = Partial<z.output<typeof couponSearchSchema>>;

/** The coupon with an id, archived ones included. 404 when there is none. */
export const getCoupon = (context: RequestContext, id: string) =>
  foundById(context, couponTable, 'coupon', id);

/** The coupon that has a code now; archived ones have given theirs back. */
export async function getCouponByCode(
  context: RequestContext,
  code: string,
): Promise<Found<Coupon>> {
  const found = await context.read.first(couponTable, [
    ...where('coupon_code', 'eq', comparedCode(code)),
    ...where('status', 'eq', 'published'),
  ]);
  if (!found) throw notFound('coupon', code, 'code');
  return found;
}

/** One page of coupons. */
export const searchCoupons = (
  context: RequestContext,
  search: CouponSearch,
): Promise<Page<Coupon>> =>
  context.read.list(couponTable, pageRequest(couponTable, search), [
    ...searchFilters(couponTable, search),
    ...where('id', 'in', search.coupon_ids),
    ...where('coupon_code', 'in', search.coupon_codes?.map(comparedCode)),
  ]);
