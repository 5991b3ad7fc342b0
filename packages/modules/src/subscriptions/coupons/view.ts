import { type RecordStamps, withoutNulls } from '@counterfoil/kernel';
import type { CouponData } from './association.ts';
import type { CouponAssociation } from './schema.ts';

/** A coupon that a subscription has, with what its row shows of that. */
export interface CouponRow {
  readonly association: CouponData;
  readonly subscription_id: string;
  readonly stamps: RecordStamps;
}

/** The association as the API shows it, without the coupon. */
export const couponAssociationView = ({
  association,
  subscription_id,
  stamps,
}: CouponRow): CouponAssociation => {
  const { id, coupon_id, line_item_id, phase_id, start_date, end_date, metadata } = association;
  const { tenant_id, environment_id, created_at, created_by, updated_at, updated_by } = stamps;
  return withoutNulls({
    id,
    ...{ tenant_id, environment_id, created_at, created_by, updated_at, updated_by },
    status: 'published' as const,
    coupon_id,
    subscription_id,
    subscription_line_item_id: line_item_id,
    subscription_phase_id: phase_id,
    start_date,
    end_date,
    metadata,
  });
};
