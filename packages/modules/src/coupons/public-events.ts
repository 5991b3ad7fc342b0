import { publicEvents } from '@counterfoil/engine/define';
import { z } from 'zod';
import { coupon, couponView } from './coupon.ts';
import { couponSchema } from './schema.ts';

const messageTypes = {
  CouponCreated: 'coupon.created',
  CouponUpdated: 'coupon.updated',
  CouponArchived: 'coupon.deleted',
} as const;

const body = z.object({ coupon: couponSchema });

/** Every change of a coupon is published, with the whole coupon as it is after the change. */
export const couponPublicEvents = publicEvents(
  coupon,
  ({ event, after }) => {
    const resource = couponView(after);
    return [
      { type: messageTypes[event.type], resourceId: resource.id, body: { coupon: resource } },
    ];
  },
  {
    'coupon.created': { summary: 'A coupon is created', body },
    'coupon.updated': { summary: 'Name or metadata of a coupon change', body },
    'coupon.deleted': { summary: 'A coupon is archived', body },
  },
);
