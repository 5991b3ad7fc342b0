import {
  newRecord,
  ofTable,
  pageRequest,
  pageSchema,
  pageShape,
  type Routes,
  route,
  where,
} from '@counterfoil/engine/define';
import { referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { foundById } from '../../record/index.ts';
import { couponAssociationTable, couponExpansion } from './projection.ts';
import { couponAssociationFilters, couponAssociationSchema } from './schema.ts';

const tag = 'Coupons';
const expand = couponExpansion.parameter;

/** The routes of the coupons that subscriptions have redeemed. */
export const couponAssociationRoutes = {
  'GET /coupons/associations': route({
    operationId: 'listCouponAssociations',
    summary: 'List the coupons that subscriptions have redeemed',
    tag,
    status: 200,
    permission: 'coupon:read',
    query: ofTable(
      couponAssociationTable,
      z.object({ ...pageShape, ...couponAssociationFilters, expand }),
    ),
    response: pageSchema(couponAssociationSchema),
    example: { names: { subscription_ids: 'subs', coupon_ids: 'coupon' } },
    handle: async (context, { query }) => {
      const { subscription_ids, coupon_ids, active_only } = query;
      const at = active_only ? context.now : undefined;
      const page = pageRequest(couponAssociationTable, query);
      const { items, pagination } = await context.read.list(couponAssociationTable, page, [
        ...where('subscription_id', 'in', subscription_ids),
        ...where('coupon_id', 'in', coupon_ids),
        ...where('start_date', 'lte', at),
        ...where('end_date', 'gt', at),
      ]);
      return { items: await couponExpansion.show(context, items, query.expand), pagination };
    },
  }),

  'GET /coupons/associations/{id}': route({
    operationId: 'getCouponAssociation',
    summary: 'Get a coupon that a subscription has redeemed',
    tag,
    status: 200,
    permission: 'coupon:read',
    params: z.object({ id: referenceSchema('coupon_assoc') }),
    query: z.object({ expand }),
    response: couponAssociationSchema,
    example: { params: { id: newRecord('coupon_assoc') } },
    handle: async (context, { params: { id }, query }) => {
      const called = 'coupon of a subscription';
      const { resource } = await foundById(context, couponAssociationTable, called, id);
      const [shown = resource] = await couponExpansion.show(context, [resource], query.expand);
      return shown;
    },
  }),
} satisfies Routes;
