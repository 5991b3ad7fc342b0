import type { RequestContext } from '@counterfoil/engine/define';
import {
  type Currency,
  type Instant,
  invalidField,
  type PhaseId,
  type SubscriptionId,
} from '@counterfoil/kernel';
import {
  assertRedeemable,
  couponRecords,
  couponRedemptions,
  redeemCoupon,
} from '../../coupons/index.ts';
import type { RecordOf } from '../../record/index.ts';
import type { PhaseData } from '../phases/phase.ts';
import type { CreateSubscription } from '../schema.ts';
import {
  currencyOf,
  type HeldCoupon,
  hasPrice,
  maximumCoupons,
  type OrderedCoupon,
} from './association.ts';
import type { CouponsBody } from './schema.ts';

type Coupon = RecordOf<typeof couponRecords>;

/** The terms of a new subscription that coupons have to fit. */
interface CouponTerms {
  readonly currency: Currency;
  readonly start_date: Instant;
  readonly end_date: Instant | null;
  readonly lines: readonly (Parameters<typeof hasPrice>[0] & {
    readonly subscription_phase_id: PhaseId | null;
  })[];
  /** The phase that they are for, and its place in the request; absent: all of it. */
  readonly phase?: { readonly id: PhaseId; readonly pointer: string };
}

/** The coupons of a new subscription or of a phase of it, found in the log. Nothing is redeemed yet. Throws a Problem. */
export async function couponsNamed(
  context: RequestContext,
  terms: CouponTerms,
  { coupons, line_item_coupons, subscription_coupons }: CouponsBody,
): Promise<readonly OrderedCoupon[]> {
  const { id: phase_id, pointer: place } = terms.phase ?? { id: null, pointer: '' };
  const named: OrderedCoupon[] = [];
  const byId = async (id: string, price_id: string | null, pointer: string) => {
    const coupon = await couponRecords.referred(context, id, fieldOf(pointer));
    named.push(orderedOf(coupon, { price_id, phase_id, pointer }));
  };
  for (const [index, id] of (coupons ?? []).entries()) {
    await byId(id, null, `${place}/coupons/${index}`);
  }
  for (const [priceId, ids] of Object.entries(line_item_coupons ?? {})) {
    for (const [index, id] of ids.entries()) {
      await byId(id, priceId, `${place}/line_item_coupons/${priceId}/${index}`);
    }
  }
  for (const [index, asked] of (subscription_coupons ?? []).entries()) {
    const pointer = `${place}/subscription_coupons/${index}/coupon_code`;
    const coupon = await couponRecords.holder(context, asked.coupon_code, fieldOf(pointer));
    const { price_id, start_date, end_date } = asked;
    named.push({
      ...orderedOf(coupon, { price_id: price_id ?? null, phase_id, pointer }),
      start_date: start_date ?? null,
      end_date: end_date ?? null,
    });
  }
  assertFitting(terms, named);
  return named;
}

/** All coupons of a new subscription: those for the whole of it, and those of each phase (E 10.8). */
export async function couponsOfOrder(
  context: RequestContext,
  { phases, ...terms }: Omit<CouponTerms, 'phase'> & { readonly phases: readonly PhaseData[] },
  body: CreateSubscription,
): Promise<readonly OrderedCoupon[]> {
  const named = [...(await couponsNamed(context, terms, body))];
  for (const [index, { id, start_date, end_date }] of phases.entries()) {
    const lines = terms.lines.filter((line) => line.subscription_phase_id === id);
    const phase = { id, pointer: `/phases/${index}` };
    const ofPhase = { ...terms, start_date, end_date, lines, phase };
    named.push(...(await couponsNamed(context, ofPhase, body.phases?.[index] ?? {})));
    assertRoom(named, phase.pointer);
  }
  return named;
}

const fieldOf = (pointer: string): string => pointer.slice(1).replaceAll('/', '.');

const orderedOf = (
  { id, name, discount, repetition }: Coupon,
  place: Pick<OrderedCoupon, 'price_id' | 'phase_id' | 'pointer'>,
): OrderedCoupon => ({
  coupon_id: id,
  name,
  discount,
  repetition,
  start_date: null,
  end_date: null,
  ...place,
});

function assertRoom(named: readonly OrderedCoupon[], place: string): void {
  if (named.length <= maximumCoupons) return;
  throw invalidField(`${place}/coupons`, `a subscription has at most ${maximumCoupons}`);
}

/** Throws a Problem for coupons that do not fit a subscription, or are there twice. */
function assertFitting(terms: CouponTerms, named: readonly OrderedCoupon[]): void {
  assertRoom(named, terms.phase?.pointer ?? '');
  const seen = new Set<string>();
  for (const ordered of named) {
    const { coupon_id, price_id, start_date, end_date, pointer } = ordered;
    const place = `${coupon_id} ${price_id}`;
    if (seen.has(place)) throw invalidField(pointer, 'is there twice');
    seen.add(place);
    const currency = currencyOf(ordered);
    if (currency !== null && currency !== terms.currency) {
      throw invalidField(pointer, `takes an amount of ${currency}, not of ${terms.currency}`);
    }
    if (price_id !== null && !terms.lines.some((line) => hasPrice(line, price_id))) {
      throw invalidField(pointer, `is for ${price_id}, which no line has`);
    }
    const start = start_date ?? terms.start_date;
    if (start < terms.start_date) {
      throw invalidField(
        pointer,
        `must not begin before ${terms.phase ? 'the phase' : 'the subscription'}`,
      );
    }
    if (end_date !== null && end_date <= start)
      throw invalidField(pointer, 'ends before it begins');
    if (terms.end_date !== null && start >= terms.end_date) {
      throw invalidField(
        pointer,
        `begins after ${terms.phase ? 'the phase' : 'the subscription'} ends`,
      );
    }
  }
}

type Named = Pick<OrderedCoupon, 'coupon_id' | 'pointer'>;
type Held = Pick<HeldCoupon, 'coupon_id'>;

/**
 * The coupons that have to be redeemed, each once: those that a subscription has redeemed before are not counted again, but
 * have to be redeemable still.
 */
async function toRedeem(context: RequestContext, named: readonly Named[], held: readonly Held[]) {
  const found: { readonly coupon: Coupon; readonly field: string }[] = [];
  for (const { coupon_id: id, pointer } of named) {
    if (found.some(({ coupon }) => coupon.id === id)) continue;
    const field = fieldOf(pointer);
    const coupon = await couponRecords.referred(context, id, field);
    if (held.some((each) => each.coupon_id === id)) assertRedeemable(coupon, context.now, field);
    else found.push({ coupon, field });
  }
  return found;
}

/** Throws the Problem that `redeemAll` would throw now, and redeems nothing: for a preview. */
export async function assertRedeemableAll(
  context: RequestContext,
  subscriptionId: SubscriptionId,
  named: readonly Named[],
  held: readonly Held[] = [],
): Promise<void> {
  for (const { coupon, field } of await toRedeem(context, named, held)) {
    const redemptions = await context.load(couponRedemptions, coupon.id);
    redeemCoupon(coupon, subscriptionId, field)(redemptions, context.now);
  }
}

/**
 * Redeems coupons for a subscription that is about to be recorded, each once. The last of what can fail before that, so that
 * none is redeemed for nothing; one that is, because the process dies in between, is given back later.
 *
 * @param held the coupons that it has redeemed before
 */
export async function redeemAll(
  context: RequestContext,
  subscriptionId: SubscriptionId,
  named: readonly Named[],
  held: readonly Held[] = [],
): Promise<void> {
  for (const { coupon, field } of await toRedeem(context, named, held)) {
    await context.execute(
      couponRedemptions,
      coupon.id,
      redeemCoupon(coupon, subscriptionId, field),
    );
  }
}
