import { derivedId, type InvoiceId } from '@counterfoil/kernel';
import type { Bill, Taxation, UntaxedBill } from '../amounts.ts';
import type { GivenBill } from '../events.ts';
import type { Invoice } from '../invoice.ts';

/** The bill of an invoice whose lines were given, before its taxes: by a request, or by the purchase of credits. */
export const untaxedOfGiven = (
  { id, currency }: Pick<Invoice, 'id' | 'currency'>,
  given: GivenBill,
): UntaxedBill => ({
  currency,
  lines: given.lines,
  coupons: given.coupons.map((coupon) => ({
    ...coupon,
    idFor: (lineId) =>
      derivedId('coupon_app', `${id}\n${coupon.coupon_id}\n${lineId ?? 'the whole'}`),
  })),
});

/** The whole bill of such an invoice. */
export const billOfGiven = (
  invoice: Pick<Invoice, 'id' | 'currency'>,
  given: GivenBill,
  taxation: Taxation,
  credits: Bill['credits'] = [],
): Bill => ({ ...untaxedOfGiven(invoice, given), ...taxation, credits });

/** The id of a line that was given: its place in the invoice. */
export const givenLineId = (invoiceId: InvoiceId, index: number) =>
  derivedId('inv_line', `${invoiceId}\ngiven ${index}`);

/** The id of a tax on an invoice: of each rate there is one. */
export const appliedTaxId = (invoiceId: InvoiceId, taxRateId: string) =>
  derivedId('taxapp', `${invoiceId}\n${taxRateId}`);
