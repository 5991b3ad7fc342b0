import { expansion, projection } from '@counterfoil/engine/define';
import { createdStamps, invariant, lastInstant, updatedStamps } from '@counterfoil/kernel';
import { couponRecords } from '../../coupons/index.ts';
import { subscription } from '../subscription.ts';
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
  keys: (event) =>
    event.type === 'SubscriptionCreated' || event.type === 'SubscriptionActivated'
      ? event.data.coupons.map(({ id }) => id)
      : [],
  adds: (event) =>
    event.type === 'SubscriptionCreated' ? event.data.coupons.map(({ id }) => id) : [],
  fold: (row: CouponRow | null, event, key): CouponRow | null => {
    if (event.type === 'SubscriptionActivated') {
      invariant(row, `the coupon ${key} is of no draft`);
      const dates = event.data.coupons.find(({ id }) => id === key);
      const stamps = { ...row.stamps, ...updatedStamps(event.stamp) };
      return { ...row, stamps, association: { ...row.association, ...dates } };
    }
    if (event.type !== 'SubscriptionCreated') return row;
    const association = event.data.coupons.find(({ id }) => id === key);
    invariant(association, `the coupon ${key} is of no subscription`);
    return { association, subscription_id: event.data.id, stamps: createdStamps(event.stamp) };
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
