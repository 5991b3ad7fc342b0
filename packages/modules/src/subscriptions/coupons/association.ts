import {
  type Currency,
  derivedId,
  type Instant,
  instantSchema,
  metadataSchema,
  type PhaseId,
  type RecordStamps,
  referenceSchema,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { discountData, repetitionData } from '../../coupons/index.ts';

/** A coupon as a subscription redeemed it: nothing changes in it because the coupon does (E 20 B). */
export const couponData = z.object({
  id: referenceSchema('coupon_assoc'),
  coupon_id: referenceSchema('coupon'),
  name: z.string(),
  discount: discountData,
  repetition: repetitionData,
  /** The line that it is taken off; null: of what all lines come to. */
  line_item_id: referenceSchema('subs_line').nullable(),
  /** It counts for nothing outside of this phase, wherever that is moved to; null: in all of them. */
  phase_id: referenceSchema('phase').nullable().default(null),
  /** It counts for what is invoiced from here on. */
  start_date: instantSchema,
  /** Until right before here; null: as long as its repetition says. */
  end_date: instantSchema.nullable(),
  metadata: metadataSchema,
});
export type CouponData = z.output<typeof couponData>;

/** A coupon that a subscription has redeemed, with when it came. */
export interface HeldCoupon extends CouponData {
  readonly stamps: RecordStamps;
}

/** A coupon as it is ordered, before it is known which line has the price that it is for. */
export interface OrderedCoupon extends Pick<CouponData, 'coupon_id' | 'name'> {
  readonly discount: CouponData['discount'];
  readonly repetition: CouponData['repetition'];
  /** Null: for all lines. */
  readonly price_id: string | null;
  /** Null: for all phases. */
  readonly phase_id: PhaseId | null;
  /** Null: with the subscription, or the phase. */
  readonly start_date: Instant | null;
  readonly end_date: Instant | null;
  /** Its place in the request. */
  readonly pointer: string;
}

/** The currency that a coupon takes an amount of; null: it takes a part, of any. */
export const currencyOf = ({ discount }: Pick<OrderedCoupon, 'discount'>): Currency | null =>
  discount.type === 'fixed' ? discount.currency : null;

/** Coupons that one subscription is created with at most, and that count for it at once. */
export const maximumCoupons = 50;

/** Coupons that one subscription redeems in its life at most. */
export const maximumRedeemed = 500;

/** The lines of a subscription that coupons can be for. */
interface CouponHost {
  readonly id: string;
  readonly start_date: Instant;
  readonly lines: readonly {
    readonly id: CouponData['line_item_id'] & string;
    readonly subscription_phase_id: PhaseId | null;
    readonly price: { readonly id: string; readonly parent_price_id: string | null };
  }[];
  readonly phases: readonly { readonly id: PhaseId; readonly start_date: Instant }[];
}

/** Tells whether a line has a price, or one of its own in the place of it. */
export const hasPrice = (
  { price }: { readonly price: { readonly id: string; readonly parent_price_id: string | null } },
  priceId: string,
): boolean => price.id === priceId || price.parent_price_id === priceId;

/**
 * The coupons of a subscription; their ids follow from its own, from the coupon and the line. One for a price is there for
 * its line of every phase.
 */
export const orderedCoupons = (
  host: CouponHost,
  coupons: readonly OrderedCoupon[],
): readonly CouponData[] =>
  coupons.flatMap(({ price_id, start_date, pointer: _, ...coupon }) => {
    const { phase_id } = coupon;
    const phase = host.phases.find(({ id }) => id === phase_id);
    const data = (line: CouponHost['lines'][number] | null, of: PhaseId | null): CouponData => ({
      ...coupon,
      id: derivedId(
        'coupon_assoc',
        [host.id, coupon.coupon_id, price_id ?? '', of ?? []].flat().join('\n'),
      ),
      line_item_id: line?.id ?? null,
      start_date: start_date ?? phase?.start_date ?? host.start_date,
      metadata: {},
    });
    if (price_id === null) return [data(null, phase_id)];
    const lines = host.lines.filter(
      (line) =>
        hasPrice(line, price_id) && (phase_id === null || line.subscription_phase_id === phase_id),
    );
    const ofPhases = Map.groupBy(lines, (line) => line.subscription_phase_id);
    return [...ofPhases].map(([of, [line]]) => data(line ?? null, of));
  });
