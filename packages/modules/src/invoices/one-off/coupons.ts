import type { RequestContext } from '@counterfoil/engine/define';
import { type InvoiceId, type InvoiceLineId, invalidField } from '@counterfoil/kernel';
import { couponRecords, couponRedemptions, redeemForInvoice } from '../../coupons/index.ts';
import type { RecordOf } from '../../record/index.ts';
import type { GivenBill } from '../events.ts';
import type { CreateInvoice } from './schema.ts';

type Coupon = RecordOf<typeof couponRecords>;

/** A coupon that a request names for an invoice, with its place there. */
export interface NamedCoupon {
  readonly coupon: Coupon;
  readonly coupon_association_id: string | null;
  /** The lines that it is taken off, each on its own; null: off all together. */
  readonly line_ids: readonly InvoiceLineId[] | null;
  readonly pointer: string;
}

/**
 * The coupons that a request names: those of lines first, then those of the whole, each in the order of the request. Nothing
 * is redeemed yet. Throws 404 for unknown ones, and 400 for those that do not fit the invoice or are there twice.
 */
export async function namedCoupons(
  context: RequestContext,
  body: CreateInvoice,
  lines: GivenBill['lines'],
): Promise<readonly NamedCoupon[]> {
  const named: NamedCoupon[] = [];
  const seen = new Set<string>();
  const add = async (
    id: string,
    { pointer, ...rest }: Omit<NamedCoupon, 'coupon'>,
  ): Promise<void> => {
    const coupon = await couponRecords.referred(context, id, fieldOf(pointer));
    const place = `${id} ${rest.line_ids?.join() ?? ''}`;
    if (seen.has(place)) throw invalidField(pointer, 'is there twice');
    seen.add(place);
    assertCurrency(coupon, body.currency, pointer);
    named.push({ coupon, pointer, ...rest });
  };
  for (const [index, given] of (body.line_item_coupons ?? []).entries()) {
    const place = `/line_item_coupons/${index}`;
    await add(given.coupon_id, {
      coupon_association_id: given.coupon_association_id ?? null,
      line_ids: linesNamed(lines, given.line_item_id ?? null, `${place}/line_item_id`),
      pointer: `${place}/coupon_id`,
    });
  }
  const ofWhole = { line_ids: null, coupon_association_id: null };
  for (const [index, id] of (body.coupons ?? []).entries()) {
    await add(id, { ...ofWhole, pointer: `/coupons/${index}` });
  }
  for (const [index, given] of (body.invoice_coupons ?? []).entries()) {
    await add(given.coupon_id, {
      ...ofWhole,
      coupon_association_id: given.coupon_association_id ?? null,
      pointer: `/invoice_coupons/${index}/coupon_id`,
    });
  }
  return named;
}

/** The lines that a text names, all where there is none: by the line of the subscription or else by the price that they are for (E 20). */
function linesNamed(
  lines: GivenBill['lines'],
  name: string | null,
  pointer: string,
): readonly InvoiceLineId[] {
  if (name === null) return lines.map(({ id }) => id);
  const byLine = lines.filter((line) => line.subscription_line_item_id === name);
  const found = byLine.length > 0 ? byLine : lines.filter(({ price_id }) => price_id === name);
  if (found.length === 0) throw invalidField(pointer, 'is the line and the price of no line');
  return found.map(({ id }) => id);
}

function assertCurrency({ discount }: Coupon, currency: string, pointer: string): void {
  if (discount.type === 'percentage' || discount.currency === currency) return;
  throw invalidField(pointer, `takes an amount of ${discount.currency}, not of ${currency}`);
}

/** The coupons as the invoice keeps them: nothing changes in them because the coupons do (E 20 B). */
export const givenCoupons = (
  named: readonly NamedCoupon[],
  lines: GivenBill['lines'],
): GivenBill['coupons'] =>
  named.map(({ coupon, coupon_association_id, line_ids }) => ({
    coupon_id: coupon.id,
    coupon_association_id,
    subscription_id: null,
    name: coupon.name,
    discount: coupon.discount,
    level: line_ids === null ? 'whole' : 'line',
    line_ids: [...(line_ids ?? lines.map(({ id }) => id))],
  }));

/**
 * Redeems coupons for an invoice that is about to be recorded; one that is named twice was redeemed before (E 20). The last of what
 * can fail before that, so that none is redeemed for nothing.
 */
export async function redeemNamed(
  context: RequestContext,
  id: InvoiceId,
  named: readonly NamedCoupon[],
): Promise<void> {
  for (const { coupon, pointer } of named) {
    await context.execute(
      couponRedemptions,
      coupon.id,
      redeemForInvoice(coupon, id, fieldOf(pointer)),
    );
  }
}

const fieldOf = (pointer: string): string => pointer.slice(1).replaceAll('/', '.');
