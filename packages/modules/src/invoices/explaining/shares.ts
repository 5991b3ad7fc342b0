import { decimal, textOf } from '@counterfoil/kernel';
import {
  type Bill,
  figuresOf,
  includedTaxOf,
  type PayingCredits,
  taxOf,
  withCredits,
} from '../amounts.ts';
import type { ComputedAgain } from '../computing-again/again.ts';
import type { InvoiceFigures } from '../events.ts';
import { amountsOf, type Invoice } from '../invoice.ts';
import type { InvoiceExplanation } from './schema.ts';

type Share = InvoiceExplanation['coupons'][number]['shares'][number];
type Figure = 'line_discount' | 'invoice_discount' | 'credits';

/** The figures of each line with one thing more than before, less those before: the lines where that makes no difference are left out. */
function sharesOf(
  before: InvoiceFigures,
  after: InvoiceFigures,
  figures: readonly Figure[],
): Share[] {
  const on = (lines: InvoiceFigures['lines'], index: number) =>
    figures.reduce((sum, figure) => sum.plus(decimal(lines[index]?.[figure] ?? '0')), decimal('0'));
  return after.lines.flatMap(({ id }, index) => {
    const amount = textOf(on(after.lines, index).minus(on(before.lines, index)));
    return amount === '0' ? [] : [{ line_item_id: id, amount }];
  });
}

/** The coupons that were taken off, each with its share of each line: what it changes when it comes after those before it. */
export function couponsView(invoice: Invoice, bill: Bill): InvoiceExplanation['coupons'] {
  // Those of single lines come first, in their own order.
  return invoice.coupons.map((applied) => {
    const place = bill.coupons.findIndex(
      ({ coupon_id, coupon_association_id, level }) =>
        coupon_id === applied.coupon_id &&
        coupon_association_id === applied.coupon_association_id &&
        (level === 'line') === (applied.line_id !== null),
    );
    const shares =
      applied.line_id !== null
        ? [{ line_item_id: applied.line_id as string, amount: applied.discounted_amount }]
        : place < 0
          ? []
          : sharesOf(
              figuresOf({ ...bill, coupons: bill.coupons.slice(0, place) }),
              figuresOf({ ...bill, coupons: bill.coupons.slice(0, place + 1) }),
              ['invoice_discount'],
            );
    const { discount } = applied;
    return {
      coupon_application_id: applied.id,
      coupon_id: applied.coupon_id,
      coupon_association_id: applied.coupon_association_id,
      name: applied.name,
      line_item_id: applied.line_id,
      percentage_off: discount.type === 'percentage' ? discount.percentage_off : null,
      amount_off: discount.type === 'fixed' ? discount.amount_off : null,
      original_price: applied.original_price,
      discounted_amount: applied.discounted_amount,
      final_price: applied.final_price,
      shares,
    };
  });
}

/** The prepaid credits of each wallet, with what they pay of each line. */
export function creditsView(
  invoice: Invoice,
  { payable }: Pick<ComputedAgain, 'payable'>,
): InvoiceExplanation['credits'] {
  const covers_tax = invoice.plan?.covers_tax ?? false;
  const credits: PayingCredits[] = [];
  return invoice.taken.map(({ wallet_id, hold_id, credits: taken, amount }) => {
    const price_types = payable.get(wallet_id) ?? [];
    const before = withCredits(invoice, credits);
    credits.push({ amount, price_types, covers_tax });
    return {
      wallet_id,
      hold_id,
      credits: taken,
      amount,
      allowed_price_types: [...price_types],
      covers_tax,
      shares: sharesOf(before, withCredits(invoice, credits), ['credits']),
    };
  });
}

export const taxesView = ({ taxes }: Invoice): InvoiceExplanation['taxes'] =>
  taxes.map((tax) => ({
    tax_rate_id: tax.tax_rate_id,
    code: tax.code,
    name: tax.name,
    percentage: tax.percentage,
    fixed: tax.fixed,
    taxable_amount: tax.taxable_amount,
    tax_amount: tax.tax_amount,
    included_amount: tax.included_amount ?? '0',
    line_item_ids: tax.line_ids === undefined ? null : [...tax.line_ids],
  }));

const negated = (amount: string): string => textOf(decimal(amount).neg());

/** The sums of the whole, each with its terms. */
export function sumsView(invoice: Invoice, current: Invoice): InvoiceExplanation['sums'] {
  const { lines, subtotal, total_discount, total_credits, total_tax, total } = invoice;
  const ofLines = (figure: 'amount' | 'credits') =>
    lines.map((line) => ({ name: line.id as string, amount: line[figure] }));
  const included = includedTaxOf(invoice);
  const { adjustment_amount, amount_due } = amountsOf(current);
  return [
    { figure: 'subtotal', terms: ofLines('amount'), amount: subtotal },
    {
      figure: 'total_discount',
      terms: lines.flatMap(({ id, line_discount, invoice_discount }) => [
        {
          name: id as string,
          amount: textOf(decimal(line_discount).plus(decimal(invoice_discount))),
        },
      ]),
      amount: total_discount,
    },
    { figure: 'total_prepaid_credits_applied', terms: ofLines('credits'), amount: total_credits },
    {
      figure: 'total_tax',
      terms: lines.map((line) => ({ name: line.id as string, amount: taxOf(line) })),
      amount: total_tax,
    },
    {
      figure: 'total',
      terms: [
        { name: 'subtotal', amount: subtotal },
        { name: 'total_discount', amount: negated(total_discount) },
        { name: 'total_prepaid_credits_applied', amount: negated(total_credits) },
        { name: 'total_tax', amount: total_tax },
        ...(included === '0' ? [] : [{ name: 'total_included_tax', amount: negated(included) }]),
      ],
      amount: total,
    },
    {
      figure: 'amount_due',
      terms: [
        { name: 'total', amount: total },
        { name: 'adjustment_amount', amount: negated(adjustment_amount) },
      ],
      amount: amount_due,
    },
  ];
}
