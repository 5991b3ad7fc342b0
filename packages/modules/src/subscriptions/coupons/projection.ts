import { expansion, projection } from '@counterfoil/engine/define';
import { createdStamps, invariant, lastInstant, updatedStamps } from '@counterfoil/kernel';
import { couponRecords } from '../../coupons/index.ts';
import { subscription } from '../subscription.ts';
import { broughtCoupons, couponDates } from './changed.ts';
import type { CouponAssociation } from './schema.ts';
import { type CouponRow, couponAssociationView } from './view.ts';

/** One row per coupon that a subscription has redeemed. */
export const couponAssociationTable = projection(subscription, {
  name: 'coupon_associations',
  version: 2,
  columns: {
    subscription_id: { type: 'text', of: (shown) => shown.subscription_id, index: true },
    coupon_id: { type: 'text', of: (shown) => shown.coupon_id, index: true },
    start_date: { type: 'timestamptz', of: (shown) => shown.start_date },
    end_date: { type: 'timestamptz', of: (shown) => shown.end_date ?? lastInstant },
  },
  keys: (event) => [...broughtCoupons(event).map(({ id }) => id), ...couponDates(event).keys()],
  adds: (event) => broughtCoupons(event).map(({ id }) => id),
  fold: (row: CouponRow | null, event, key): CouponRow | null => {
    const association = broughtCoupons(event).find(({ id }) => id === key);
    if (association) {
      return {
        association,
        subscription_id: event.aggregate_id,
        stamps: createdStamps(event.stamp),
      };
    }
    invariant(row, `the coupon ${key} is changed before it is redeemed`);
    const stamps = { ...row.stamps, ...updatedStamps(event.stamp) };
    return { ...row, stamps, association: { ...row.association, ...couponDates(event).get(key) } };
  },
  view: couponAssociationView,
});

/** The coupon that an association is of, as it is now. */
export const couponExpansion = expansion<CouponAssociation>({
  coupon: {
    as: 'coupon',
    id: ({ coupon_id }) => coupon_id,
    find: couponRecords.byIds,
    always: true,
  },
});
