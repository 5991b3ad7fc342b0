import {
  type Currency,
  type DecimalText,
  instantSchema,
  invariant,
  withoutNulls,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { type EventsOf, lowerCase, record } from '../record/index.ts';
import { type CreateCoupon, couponSchema, createCouponSchema } from './schema.ts';

const kept = <Kind extends string>() => z.string().transform((text) => text as Kind);

/** The discount of a coupon: an amount of a currency, or a part of whatever it is taken off. */
export const discountData = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('fixed'),
    amount_off: kept<DecimalText>(),
    currency: kept<Currency>(),
  }),
  z.object({ type: z.literal('percentage'), percentage_off: kept<DecimalText>() }),
]);
type Discount = z.output<typeof discountData>;

/** For how many billing periods a redemption counts. */
export const repetitionData = z.discriminatedUnion('cadence', [
  z.object({ cadence: z.literal('once') }),
  z.object({ cadence: z.literal('repeated'), duration_in_periods: z.number().int() }),
  z.object({ cadence: z.literal('forever') }),
]);
type Repetition = z.output<typeof repetitionData>;

function discountOf({ type, amount_off, currency, percentage_off }: CreateCoupon): Discount {
  if (type === 'fixed') {
    invariant(amount_off && currency, 'a fixed coupon without an amount was let through');
    return { type, amount_off, currency };
  }
  invariant(percentage_off, 'a percentage coupon without a percentage was let through');
  return { type, percentage_off };
}

function repetitionOf({ cadence, duration_in_periods }: CreateCoupon): Repetition {
  if (cadence !== 'repeated') return { cadence };
  invariant(duration_in_periods, 'a repeated coupon without a duration was let through');
  return { cadence, duration_in_periods };
}

/** A discount. Its amount, its conditions and its duration never change. */
export const couponRecords = record({
  name: 'coupon',
  called: 'coupon',
  prefix: 'coupon',
  life: {
    created: {
      event: 'CouponCreated',
      publishes: 'coupon.created',
      when: 'A coupon is created',
    },
    updated: {
      event: 'CouponUpdated',
      publishes: 'coupon.updated',
      when: 'Name or metadata of a coupon change',
    },
    archived: {
      event: 'CouponArchived',
      publishes: 'coupon.deleted',
      when: 'A coupon is archived',
    },
  },
  fixed: {
    coupon_code: z.string().nullable(),
    discount: discountData,
    repetition: repetitionData,
    max_redemptions: z.number().int().nullable(),
    redeem_after: instantSchema.nullable(),
    redeem_before: instantSchema.nullable(),
    rules: z.record(z.string(), z.unknown()).nullable(),
  },
  changeable: { name: z.string(), metadata: z.record(z.string(), z.string()) },
  /** The number of times that it was redeemed, which its stream does not know: `redemptions.ts` does. */
  born: { total_redemptions: 0 as number },
  unique: { field: 'coupon_code', ignoresCase: true },
  request: {
    schema: createCouponSchema,
    fields: (request) => ({
      name: request.name,
      coupon_code: request.coupon_code ?? null,
      discount: discountOf(request),
      repetition: repetitionOf(request),
      max_redemptions: request.max_redemptions ?? null,
      redeem_after: request.redeem_after ?? null,
      redeem_before: request.redeem_before ?? null,
      rules: request.rules ?? null,
      metadata: request.metadata,
    }),
  },
  schema: couponSchema,
  view: ({ discount, repetition, ...fields }) => ({
    ...withoutNulls(fields),
    ...discount,
    ...repetition,
  }),
  table: {
    name: 'coupons',
    version: 1,
    columns: {
      name: { type: 'text', of: ({ name }) => name },
      coupon_code: {
        type: 'text',
        of: ({ coupon_code }) => (coupon_code === undefined ? null : lowerCase(coupon_code)),
        index: true,
      },
      type: { type: 'text', of: ({ type }) => type },
      cadence: { type: 'text', of: ({ cadence }) => cadence },
    },
  },
});

export type CouponEvent = EventsOf<typeof couponRecords>;
export const {
  aggregate: coupon,
  createFrom: createCoupon,
  update: updateCoupon,
  archive: archiveCoupon,
  view: couponView,
} = couponRecords;
