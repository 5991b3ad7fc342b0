import {
  listParameter,
  listShape,
  newRecord,
  newText,
  pageSchema,
  type Routes,
  route,
  withETag,
} from '@counterfoil/engine/define';
import { referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { deleted, messageSchema } from '../message.ts';
import { archiveCoupon, coupon, couponView, createCoupon, updateCoupon } from './coupon.ts';
import { getCoupon, getCouponByCode, searchCoupons } from './queries.ts';
import {
  couponSchema,
  couponSearchSchema,
  createCouponSchema,
  updateCouponSchema,
} from './schema.ts';

const tag = 'Coupons';
const idParameters = z.object({ id: referenceSchema('coupon') });

export const couponRoutes = {
  'POST /coupons': route({
    summary: 'Create a coupon',
    description: 'A discount: an amount or a percentage, for one billing period, several or all.',
    tag,
    status: 201,
    permission: 'coupon:write',
    body: createCouponSchema,
    response: couponSchema,
    example: {
      body: {
        name: newText('Welcome'),
        coupon_code: newText('welcome'),
        type: 'percentage',
        percentage_off: '10',
        cadence: 'once',
      },
      makes: 'coupon',
    },
    handle: async (context, { body }) => {
      const id = context.newId('coupon');
      const { state, revision } = await context.execute(coupon, id, createCoupon(id, body));
      return withETag(couponView(state), revision);
    },
  }),

  'GET /coupons': route({
    summary: 'List coupons',
    tag,
    status: 200,
    permission: 'coupon:read',
    query: z.object({
      ...listShape,
      coupon_ids: listParameter(z.string()).optional(),
      coupon_codes: listParameter(z.string()).optional(),
    }),
    response: pageSchema(couponSchema),
    example: { names: { coupon_ids: 'coupon', coupon_codes: 'coupon.coupon_code' } },
    handle: (context, { query }) => searchCoupons(context, query),
  }),

  'POST /coupons/search': route({
    summary: 'Search coupons',
    tag,
    status: 200,
    permission: 'coupon:read',
    body: couponSearchSchema,
    bodyOptional: true,
    response: pageSchema(couponSchema),
    example: { names: { coupon_ids: 'coupon', coupon_codes: 'coupon.coupon_code' } },
    handle: (context, { body }) => searchCoupons(context, body),
  }),

  'GET /coupons/code/{code}': route({
    summary: 'Get a coupon by its code',
    tag,
    status: 200,
    permission: 'coupon:read',
    params: z.object({ code: z.string().max(255) }),
    response: couponSchema,
    example: { params: { code: newRecord('coupon', 'coupon_code') } },
    handle: async (context, { params: { code } }) => {
      const { resource, revision } = await getCouponByCode(context, code);
      return withETag(resource, revision);
    },
  }),

  'GET /coupons/{id}': route({
    summary: 'Get a coupon',
    tag,
    status: 200,
    permission: 'coupon:read',
    params: idParameters,
    response: couponSchema,
    handle: async (context, { params: { id } }) => {
      const { resource, revision } = await getCoupon(context, id);
      return withETag(resource, revision);
    },
  }),

  'PUT /coupons/{id}': route({
    summary: 'Rename a coupon or replace its metadata',
    description: 'What it takes off, for whom and for how long never changes.',
    tag,
    status: 200,
    permission: 'coupon:write',
    params: idParameters,
    body: updateCouponSchema,
    response: couponSchema,
    example: { body: { name: newText('Renamed') } },
    handle: async (context, { params: { id }, body }) => {
      const { state, revision } = await context.execute(coupon, id, updateCoupon(id, body));
      return withETag(couponView(state), revision);
    },
  }),

  'DELETE /coupons/{id}': route({
    summary: 'Delete a coupon',
    description:
      'It is archived: readable by id, out of lists, not redeemable; its code is free again.',
    tag,
    status: 200,
    permission: 'coupon:write',
    params: idParameters,
    response: messageSchema,
    handle: async (context, { params: { id } }) => {
      await context.execute(coupon, id, archiveCoupon(id));
      return deleted('coupon', id);
    },
  }),
} satisfies Routes;
