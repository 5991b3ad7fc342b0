import {
  aggregate,
  type CouponId,
  type Currency,
  changedFields,
  createdStamps,
  type DecimalText,
  type Decision,
  type EventOf,
  existing,
  instantSchema,
  invariant,
  isEmpty,
  type RecordStamps,
  type RecordStatus,
  referenceSchema,
  updatedStamps,
  withChanges,
  withoutNulls,
  writable,
} from '@counterfoil/kernel';
import { z } from 'zod';
import type { Coupon, CreateCoupon, UpdateCoupon } from './schema.ts';

const kept = <Kind extends string>() => z.string().transform((text) => text as Kind);

/** The discount of a coupon: an amount of a currency, or a part of whatever it is taken off. */
const discountData = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('fixed'),
    amount_off: kept<DecimalText>(),
    currency: kept<Currency>(),
  }),
  z.object({ type: z.literal('percentage'), percentage_off: kept<DecimalText>() }),
]);
export type Discount = z.output<typeof discountData>;

/** For how many billing periods a redemption counts. */
const repetitionData = z.discriminatedUnion('cadence', [
  z.object({ cadence: z.literal('once') }),
  z.object({ cadence: z.literal('repeated'), duration_in_periods: z.number().int() }),
  z.object({ cadence: z.literal('forever') }),
]);
export type Repetition = z.output<typeof repetitionData>;

const changeableData = { name: z.string(), metadata: z.record(z.string(), z.string()) } as const;

const couponData = z.object({
  id: referenceSchema('coupon'),
  coupon_code: z.string().nullable(),
  discount: discountData,
  repetition: repetitionData,
  max_redemptions: z.number().int().nullable(),
  redeem_after: instantSchema.nullable(),
  redeem_before: instantSchema.nullable(),
  rules: z.record(z.string(), z.unknown()).nullable(),
  ...changeableData,
});

const events = {
  CouponCreated: couponData,
  /** Only what changed. */
  CouponUpdated: z.object(changeableData).partial(),
  CouponArchived: z.object({}),
} as const;
export type CouponEvent = EventOf<typeof events>;

export interface CouponRecord extends z.output<typeof couponData>, RecordStamps {
  readonly status: RecordStatus;
  /** The number of times that it was redeemed. Nothing can redeem a coupon yet. */
  readonly total_redemptions: number;
}

/** Null until the coupon is created. */
export type CouponState = CouponRecord | null;

/** A code as it is compared: codes that differ in case alone are the same. */
export const comparedCode = (code: string): string => code.toLowerCase();

export const coupon = aggregate({
  name: 'coupon',
  scope: 'environment',
  events,
  initial: null as CouponState,
  evolve: (state, event): CouponState => {
    const { stamp } = event;
    switch (event.type) {
      case 'CouponCreated':
        return {
          ...event.data,
          status: 'published',
          total_redemptions: 0,
          ...createdStamps(stamp),
        };
      case 'CouponUpdated':
        return {
          ...withChanges<CouponRecord>(existing(state, 'coupon'), event.data),
          ...updatedStamps(stamp),
        };
      case 'CouponArchived':
        return { ...existing(state, 'coupon'), ...updatedStamps(stamp), status: 'archived' };
      default:
        return event satisfies never;
    }
  },
  /** An archived coupon gives its code back. */
  unique: (state) =>
    state?.status === 'published' && state.coupon_code !== null
      ? [
          {
            name: 'coupon_code',
            value: comparedCode(state.coupon_code),
            problem: `Another coupon has the code ${JSON.stringify(state.coupon_code)}.`,
          },
        ]
      : [],
});

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

/** Creates a coupon. What belongs together was checked when the request was read. */
export const createCoupon =
  (id: CouponId, request: CreateCoupon): Decision<CouponState, CouponEvent> =>
  (state) => {
    invariant(state === null, `coupon ${id} is created twice`);
    return [
      {
        type: 'CouponCreated',
        data: {
          id,
          name: request.name,
          coupon_code: request.coupon_code ?? null,
          discount: discountOf(request),
          repetition: repetitionOf(request),
          max_redemptions: request.max_redemptions ?? null,
          redeem_after: request.redeem_after ?? null,
          redeem_before: request.redeem_before ?? null,
          rules: request.rules ?? null,
          metadata: request.metadata,
        },
      },
    ];
  };

/** Changes name and metadata where they are given and differ; what it takes off never. */
export const updateCoupon =
  (id: CouponId, { name, metadata }: UpdateCoupon): Decision<CouponState, CouponEvent> =>
  (state) => {
    const current = writable(state, 'coupon', id);
    const changes = changedFields<UpdateCoupon>(current, { name, metadata });
    return isEmpty(changes) ? [] : [{ type: 'CouponUpdated', data: changes }];
  };

/** Takes a coupon out of use, for good. One that is archived already stays as it is. */
export const archiveCoupon =
  (id: CouponId): Decision<CouponState, CouponEvent> =>
  (state) => {
    if (state?.status === 'archived') return [];
    writable(state, 'coupon', id);
    return [{ type: 'CouponArchived', data: {} }];
  };

/** The coupon as the API shows it. */
export const couponView = (state: CouponState): Coupon => {
  const { discount, repetition, ...record } = existing(state, 'coupon');
  return { ...withoutNulls(record), ...discount, ...repetition };
};
