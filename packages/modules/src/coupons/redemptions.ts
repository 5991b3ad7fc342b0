import { projection } from '@counterfoil/engine/define';
import {
  aggregate,
  createdStamps,
  type Decision,
  type EventOf,
  existing,
  type Instant,
  type InvoiceId,
  invalidOperation,
  type RecordStamps,
  referenceSchema,
  type Stamp,
  type SubscriptionId,
  shiftedBy,
  updatedStamps,
} from '@counterfoil/kernel';
import { z } from 'zod';
import type { RecordOf } from '../record/index.ts';
import type { couponRecords } from './coupon.ts';

const redemptionShape = { subscription_id: referenceSchema('subs') } as const;
const invoiceId = referenceSchema('inv');

const events = {
  /** A coupon is redeemed for a subscription, which is about to be recorded. */
  CouponRedeemed: z.object(redemptionShape),
  /** Redemptions are known to have come to their subscriptions; others have not, and count no more. */
  RedemptionsSettled: z.object({
    kept: z.array(redemptionShape.subscription_id),
    released: z.array(redemptionShape.subscription_id),
  }),
  /** A coupon is redeemed for an invoice of its own, which is about to be recorded. */
  CouponRedeemedOnce: z.object({ invoice_id: invoiceId }),
  /** The same for redemptions by invoices. */
  InvoiceRedemptionsSettled: z.object({
    kept: z.array(invoiceId),
    released: z.array(invoiceId),
  }),
} as const;
export type RedemptionEvent = EventOf<typeof events>;

/** A redemption of which it is not known yet whether it has come to its subscription. */
interface Pending {
  readonly subscription_id: SubscriptionId;
  readonly at: Instant;
}

/** The same of one by an invoice. */
interface PendingInvoice {
  readonly invoice_id: InvoiceId;
  readonly at: Instant;
}

/** The redemptions of a coupon, counted. */
interface Redemptions extends RecordStamps {
  readonly total: number;
  readonly pending: readonly Pending[];
  readonly invoices: readonly PendingInvoice[];
}
type RedemptionsState = Redemptions | null;

const unredeemed = (stamp: Stamp): Redemptions => ({
  ...createdStamps(stamp),
  total: 0,
  pending: [],
  invoices: [],
});

/**
 * The redemptions of one coupon; its id is that of the coupon. They have a stream of their own, so that the coupon's does not
 * grow with its use.
 */
export const couponRedemptions = aggregate({
  name: 'coupon_redemptions',
  scope: 'environment',
  events,
  initial: null as RedemptionsState,
  evolve: (state, event): RedemptionsState => {
    const { stamp } = event;
    switch (event.type) {
      case 'CouponRedeemed': {
        const { subscription_id } = event.data;
        const before = state ?? unredeemed(stamp);
        return {
          ...before,
          ...updatedStamps(stamp),
          total: before.total + 1,
          pending: [...before.pending, { subscription_id, at: stamp.occurred_at }],
        };
      }
      case 'RedemptionsSettled': {
        if (state === null) return state;
        const { kept, released } = event.data;
        const done = new Set<string>([...kept, ...released]);
        return {
          ...state,
          ...updatedStamps(stamp),
          total: state.total - released.length,
          pending: state.pending.filter(({ subscription_id }) => !done.has(subscription_id)),
        };
      }
      case 'CouponRedeemedOnce': {
        const before = state ?? unredeemed(stamp);
        const redeemed = { ...event.data, at: stamp.occurred_at };
        return {
          ...before,
          ...updatedStamps(stamp),
          total: before.total + 1,
          invoices: [...before.invoices, redeemed],
        };
      }
      case 'InvoiceRedemptionsSettled': {
        if (state === null) return state;
        const { kept, released } = event.data;
        const done = new Set<string>([...kept, ...released]);
        return {
          ...state,
          ...updatedStamps(stamp),
          total: state.total - released.length,
          invoices: state.invoices.filter(({ invoice_id }) => !done.has(invoice_id)),
        };
      }
      default:
        return event satisfies never;
    }
  },
});

type Decided = Decision<RedemptionsState, RedemptionEvent>;

type Coupon = RecordOf<typeof couponRecords>;

/** Lets a coupon be redeemed by its own terms: it is published, and within its dates (E 20 B). Throws a Problem that names the field. */
export function assertRedeemable(
  { id, status, redeem_after, redeem_before }: Coupon,
  at: Instant,
  field: string,
): void {
  const refuse = (why: string, reason: 'archived' | 'inactive' | 'ended') =>
    invalidOperation(`The coupon ${id} ${why}.`, { reason, field });
  if (status !== 'published') throw refuse('is archived', 'archived');
  if (redeem_after !== null && at < redeem_after) {
    throw refuse(`can be redeemed from ${redeem_after} on`, 'inactive');
  }
  if (redeem_before !== null && at >= redeem_before) {
    throw refuse(`could be redeemed before ${redeem_before}`, 'ended');
  }
}

/**
 * Redeems a coupon for a subscription, once: within its dates, and no oftener than it may be (E 20 B). This is where the
 * limit is kept, however many ask at once.
 */
export const redeemCoupon =
  (coupon: Coupon, subscription_id: SubscriptionId, field: string): Decided =>
  (state, at) => {
    if (state?.pending.some((each) => each.subscription_id === subscription_id)) return [];
    assertRoom(coupon, state, at, field);
    return [{ type: 'CouponRedeemed', data: { subscription_id } }];
  };

/** Redeems a coupon for an invoice that belongs to no subscription, once, as for a subscription. */
export const redeemForInvoice =
  (coupon: Coupon, invoice_id: InvoiceId, field: string): Decided =>
  (state, at) => {
    if (state?.invoices.some((each) => each.invoice_id === invoice_id)) return [];
    assertRoom(coupon, state, at, field);
    return [{ type: 'CouponRedeemedOnce', data: { invoice_id } }];
  };

/** Lets a coupon be redeemed once more. Throws 400 where its terms do not allow it now, or it was redeemed as often as it may be. */
function assertRoom(coupon: Coupon, state: RedemptionsState, at: Instant, field: string): void {
  assertRedeemable(coupon, at, field);
  const { id, max_redemptions } = coupon;
  if (max_redemptions !== null && (state?.total ?? 0) >= max_redemptions) {
    throw invalidOperation(`The coupon ${id} was redeemed ${max_redemptions} times already.`, {
      reason: 'limit_reached',
      limit: max_redemptions,
      field,
    });
  }
}

/** Minutes after which a redemption must have come to its subscription: no request lasts as long. */
const settledAfterMinutes = 10;

const settledFrom = ({ at }: { readonly at: Instant }): Instant =>
  shiftedBy(at, settledAfterMinutes * 60_000);

/** The redemptions whose subscriptions must be there by now. */
export const duePending = (state: RedemptionsState, now: Instant): readonly Pending[] =>
  (state?.pending ?? []).filter((each) => settledFrom(each) <= now);

/** The same of those by invoices. */
export const dueInvoices = (state: RedemptionsState, now: Instant): readonly PendingInvoice[] =>
  (state?.invoices ?? []).filter((each) => settledFrom(each) <= now);

/** Settles redemptions: those that have come to nothing are given back. Settled before, no event. */
export const settleRedemptions =
  (kept: readonly SubscriptionId[], released: readonly SubscriptionId[]): Decided =>
  (state) => {
    const pending = (state?.pending ?? []).map((each) => each.subscription_id);
    const data = stillPending(pending, kept, released);
    return data === null ? [] : [{ type: 'RedemptionsSettled', data }];
  };

/** Those of some redemptions that are not settled yet; null where there are none. */
function stillPending<RedeemerId>(
  pending: readonly RedeemerId[],
  kept: readonly RedeemerId[],
  released: readonly RedeemerId[],
): { kept: RedeemerId[]; released: RedeemerId[] } | null {
  const of = (ids: readonly RedeemerId[]) => ids.filter((id) => pending.includes(id));
  const data = { kept: of(kept), released: of(released) };
  return data.kept.length + data.released.length === 0 ? null : data;
}

/** Gives one redemption back. Whoever asks does so once. */
export const returnRedemption =
  (subscription_id: SubscriptionId): Decided =>
  (state) =>
    state === null
      ? []
      : [{ type: 'RedemptionsSettled', data: { kept: [], released: [subscription_id] } }];

/** Settles redemptions by invoices: those that have come to nothing are given back. Settled before, no event. */
export const settleInvoices =
  (kept: readonly InvoiceId[], released: readonly InvoiceId[]): Decided =>
  (state) => {
    const pending = (state?.invoices ?? []).map((each) => each.invoice_id);
    const data = stillPending(pending, kept, released);
    return data === null ? [] : [{ type: 'InvoiceRedemptionsSettled', data }];
  };

/** Gives the redemption by an invoice back. Whoever asks does so once. */
export const returnOfInvoice =
  (invoice_id: InvoiceId): Decided =>
  (state) =>
    state === null
      ? []
      : [{ type: 'InvoiceRedemptionsSettled', data: { kept: [], released: [invoice_id] } }];

interface RedemptionsRow extends Redemptions {
  readonly id: string;
  /** Lists show what is published. */
  readonly status: 'published';
}

/** One row per coupon that was ever redeemed. */
export const redemptionsTable = projection(couponRedemptions, {
  name: 'coupon_redemptions',
  version: 2,
  columns: {
    due_at: {
      type: 'timestamptz',
      of: ({ pending }) => (pending[0] ? settledFrom(pending[0]) : null),
      index: true,
    },
    invoices_due_at: {
      type: 'timestamptz',
      of: ({ invoices }) => (invoices[0] ? settledFrom(invoices[0]) : null),
      index: true,
    },
  },
  keys: (event) => [event.aggregate_id],
  fold: (row: RedemptionsRow | null, event, key): RedemptionsRow => {
    return {
      ...existing(couponRedemptions.evolve(row, event), 'redemption'),
      id: key,
      status: 'published',
    };
  },
  view: (row: RedemptionsRow) => row,
});
