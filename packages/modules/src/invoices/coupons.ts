import {
  aggregate,
  type CouponApplicationId,
  type Decision,
  derivedId,
  type EventOf,
  type Instant,
  type InvoiceId,
  type InvoiceLineId,
} from '@counterfoil/kernel';
import { z } from 'zod';
import type { CouponData } from '../subscriptions/index.ts';
import type { BilledCoupon } from './amounts.ts';

const invoiceId = z.string().transform((text) => text as InvoiceId);

const events = {
  /** The one invoice that a coupon is taken off has it. */
  CouponUsed: z.object({ invoice_id: invoiceId }),
  /** That invoice is void: another one may have it (D57). */
  CouponUseReturned: z.object({ invoice_id: invoiceId }),
} as const;
export type CouponUseEvent = EventOf<typeof events>;

/** The invoice that has a coupon which is for one invoice; null: none yet. */
export interface CouponUse {
  readonly invoice_id: InvoiceId;
}

/** The use of a coupon that is for one invoice alone; its id is that of the redemption in the subscription. */
export const couponUse = aggregate({
  name: 'coupon_use',
  scope: 'environment',
  events,
  initial: null as CouponUse | null,
  evolve: (_state, event): CouponUse | null => {
    switch (event.type) {
      case 'CouponUsed':
        return event.data;
      case 'CouponUseReturned':
        return null;
      default:
        return event satisfies never;
    }
  },
});

type Decided = Decision<CouponUse | null, CouponUseEvent>;

/** Takes a coupon for an invoice. Taken before, by whichever, no event. */
export const useCoupon =
  (invoice_id: InvoiceId): Decided =>
  (state) =>
    state === null ? [{ type: 'CouponUsed', data: { invoice_id } }] : [];

/** Gives the use of a coupon back. One that the invoice does not have, no event. */
export const returnCoupon =
  (invoice_id: InvoiceId): Decided =>
  (state) =>
    state?.invoice_id === invoice_id ? [{ type: 'CouponUseReturned', data: { invoice_id } }] : [];

/** A line as far as it decides which coupons it can have. */
export interface CouponedLine {
  readonly id: InvoiceLineId;
  readonly subscription_id: string | null;
  /** Its line of the subscription, and those in whose place that stands. */
  readonly line_item_ids: readonly string[];
  /** The phase that its line of the subscription is for; null: none. */
  readonly phase_id: string | null;
  /** The instant at which it was settled. */
  readonly settled_at: Instant;
  /** The number of the billing period that it belongs to; null where none ran. */
  readonly period_index: number | null;
  /** True for what is given back net of the discounts of its own invoice. */
  readonly is_net: boolean;
}

/** A subscription as far as it decides what its coupons are taken off. */
export interface CouponHost {
  readonly id: string;
  readonly coupons: readonly CouponData[];
  /** The number of the billing period that an instant lies in; that of the first for any before. */
  readonly periodOf: (at: Instant) => number;
}

/**
 * The coupons of a subscription on the lines of an invoice, in the order in which they are taken off: those of single lines, then
 * those of all, by their beginning (E 20). One that is repeated counts for what belongs to its first periods (D57).
 *
 * @param isFree tells whether a coupon that is for one invoice is free for this one
 */
export function couponsOn(
  invoiceId: InvoiceId,
  lines: readonly CouponedLine[],
  host: CouponHost,
  isFree: (coupon: CouponData) => boolean,
): readonly BilledCoupon[] {
  const ordered = host.coupons.toSorted(
    (left, right) =>
      linesFirst(left, right) ||
      inOrder(left.start_date, right.start_date) ||
      inOrder(left.id, right.id),
  );
  return ordered.flatMap((coupon) => {
    if (isForOne(coupon) && !isFree(coupon)) return [];
    const own = lines.filter((line) => fits(coupon, line, host));
    if (own.length === 0) return [];
    const { coupon_id, name, discount } = coupon;
    return {
      coupon_id,
      coupon_association_id: coupon.id,
      subscription_id: host.id,
      name,
      discount,
      level: coupon.line_item_id === null ? ('whole' as const) : ('line' as const),
      line_ids: own.map(({ id }) => id),
      idFor: (lineId: InvoiceLineId | null): CouponApplicationId =>
        derivedId('coupon_app', [invoiceId, coupon.id, lineId].join('\n')),
    };
  });
}

/** Tells whether a coupon is for one invoice alone. */
export const isForOne = ({ repetition }: Pick<CouponData, 'repetition'>): boolean =>
  repetition.cadence === 'once';

function fits(coupon: CouponData, line: CouponedLine, host: CouponHost): boolean {
  const { line_item_id, phase_id, start_date, end_date, repetition } = coupon;
  if (line.subscription_id !== host.id || line.is_net) return false;
  if (line_item_id !== null && !line.line_item_ids.includes(line_item_id)) return false;
  if (phase_id !== null && phase_id !== line.phase_id) return false;
  const { settled_at, period_index } = line;
  if (settled_at < start_date || (end_date !== null && settled_at >= end_date)) return false;
  if (repetition.cadence !== 'repeated') return true;
  const first = host.periodOf(start_date);
  return period_index !== null && period_index - first < repetition.duration_in_periods;
}

/** Coupons of single lines come before those of all. */
function linesFirst(left: CouponData, right: CouponData): number {
  const [one, other] = [left.line_item_id === null, right.line_item_id === null];
  return one === other ? 0 : one ? 1 : -1;
}

const inOrder = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);
