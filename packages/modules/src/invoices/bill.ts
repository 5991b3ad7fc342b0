import type { Currency, DecimalText, InvoiceLineId } from '@counterfoil/kernel';
import type { TaxExemption } from '../taxes/index.ts';
import type { AppliedCoupon, AppliedTax, InvoiceLine } from './events.ts';

/** A line before anything is taken off or put on it. */
export type BilledLine = Omit<
  InvoiceLine,
  'line_discount' | 'invoice_discount' | 'credits' | 'tax' | 'included_tax'
>;

/** A discount that is taken off, where there is something to take it off. */
export interface BilledCoupon
  extends Omit<
    AppliedCoupon,
    'id' | 'line_id' | 'original_price' | 'discounted_amount' | 'final_price'
  > {
  /** Taken off each of its lines on its own, or off all of them together. */
  readonly level: 'line' | 'whole';
  /** The lines that it is for. */
  readonly line_ids: readonly InvoiceLineId[];
  /** The id of its application to a line, or to the whole. */
  readonly idFor: (lineId: InvoiceLineId | null) => AppliedCoupon['id'];
}

/** A tax that is added. Of its two figures one is null. */
export type BilledTax = Omit<AppliedTax, 'taxable_amount' | 'tax_amount' | 'included_amount'>;

/** The taxes of an invoice, or why there are none. */
export interface Taxation {
  readonly taxes: readonly BilledTax[];
  /** The exemption because of which no tax is taken that would be otherwise; null: there is none. */
  readonly exemption: TaxExemption | null;
}

/** The rules of prepaid credits: the price types that they may pay, and whether they pay the tax of such lines too. */
export interface CreditRules {
  readonly price_types: readonly ('ALL' | InvoiceLine['price_type'])[];
  readonly covers_tax: boolean;
}

/** Prepaid credits, in money. */
export interface PayingCredits extends CreditRules {
  readonly amount: DecimalText;
}

/** A bill before its taxes, and without credits. */
export type UntaxedBill = Pick<Bill, 'currency' | 'lines' | 'coupons'>;

/** Everything that the figures of an invoice depend on. */
export interface Bill extends Taxation {
  readonly currency: Currency;
  readonly lines: readonly BilledLine[];
  /** In the order in which they are taken off; all that are taken off single lines come first. */
  readonly coupons: readonly BilledCoupon[];
  /** In the order in which wallets are drawn. */
  readonly credits: readonly PayingCredits[];
}
