import { type CommandContext, dueWork } from '@counterfoil/engine/define';
import type { InvoiceId } from '@counterfoil/kernel';
import {
  couponRedemptions,
  dueInvoices,
  redemptionsTable,
  returnOfInvoice,
  settleInvoices,
} from '../../coupons/index.ts';
import { type Invoice, invoice } from '../invoice.ts';

/** The coupons that were redeemed for an invoice, each once. Those of a subscription were redeemed with that. */
const redeemedFor = ({ given }: Invoice): ReadonlySet<string> =>
  new Set(given?.coupons.map(({ coupon_id }) => coupon_id));

/**
 * Looks whether what was redeemed has come to its invoice, and gives back what has not: the request failed after the
 * redemption, or its process died.
 */
export const invoiceRedemptionsSettled = dueWork({
  name: 'coupon redemptions by invoices',
  table: redemptionsTable,
  column: 'invoices_due_at',
  run: async (context, couponId) => {
    const redemptions = await context.load(couponRedemptions, couponId);
    const kept: InvoiceId[] = [];
    const released: InvoiceId[] = [];
    for (const { invoice_id } of dueInvoices(redemptions, context.now)) {
      const state = await context.load(invoice, invoice_id);
      const has = state !== null && redeemedFor(state).has(couponId);
      (has ? kept : released).push(invoice_id);
    }
    return context.execute(couponRedemptions, couponId, settleInvoices(kept, released));
  },
});

/** Gives back what was redeemed for an invoice that is void: once, by whatever carries its void out (D57). */
export async function returnRedemptions(context: CommandContext, voided: Invoice): Promise<void> {
  for (const couponId of redeemedFor(voided)) {
    await context.execute(couponRedemptions, couponId, returnOfInvoice(voided.id));
  }
}
