import {
  type Currency,
  type Decimal,
  type DecimalText,
  decimal,
  type InvoiceLineId,
  smaller,
  textOf,
  zero,
  zeroText,
} from '@counterfoil/kernel';
import type { Bill, BilledCoupon, CreditRules, PayingCredits, UntaxedBill } from './bill.ts';
import type { AppliedCoupon, InvoiceFigures, InvoiceLine } from './events.ts';
import { both, notBelowZero, partsOf, type Sides, sidesOf, spreadOver, sum } from './sides.ts';
import { taxed } from './taxing.ts';

export type {
  Bill,
  BilledCoupon,
  BilledLine,
  BilledTax,
  CreditRules,
  PayingCredits,
  Taxation,
  UntaxedBill,
} from './bill.ts';

/**
 * Every figure of an invoice (E 15.3, 20 B, 21 B): discounts of lines, one after the other on what is left of each; discounts
 * of several together, one after the other, each spread by largest remainder; taxes, each on what is left; prepaid credits, which are a
 * means of payment and lower no tax, and pay it only where they are said to. A percentage is taken of what is charged and of what is given back (negative lines)
 * apart, and an amount of what is charged alone, so that no line comes to less than nothing by a discount. Where the lines
 * come to less than nothing the total is zero, and `givenBack` tells the rest.
 *
 * @param bill amounts with no more digits than the currency has
 */
export function figuresOf(bill: Bill): InvoiceFigures {
  const ofLines = withLineCoupons(bill);
  const ofWhole = withCouponsOfWhole(bill, ofLines.nets);
  const { taxes, added, included } = taxed(bill, ofWhole.nets);
  const lines = bill.lines.map((line, index) => ({
    ...line,
    line_discount: textOf(ofLines.discounts[index] ?? zero),
    invoice_discount: textOf(ofWhole.discounts[index] ?? zero),
    credits: zeroText,
    tax: textOf(added[index] ?? zero),
    ...includedTax(included[index] ?? zero),
  }));
  const coupons = [...ofLines.applied, ...ofWhole.applied];
  return withCredits({ coupons, taxes, tax_exemption: bill.exemption, lines }, bill.credits);
}

/** The amounts of the lines of a bill after all discounts, in their order: what taxes are worked out on. */
export const netsOf = (bill: UntaxedBill): readonly Decimal[] =>
  withCouponsOfWhole(bill, withLineCoupons(bill).nets).nets;

const includedTax = (tax: Decimal): Pick<InvoiceLine, 'included_tax'> =>
  tax.eq(zero) ? {} : { included_tax: textOf(tax) };

/** The figures of an invoice with these credits on its lines, whatever was on them before. */
export function withCredits(
  figures: Pick<InvoiceFigures, 'lines' | 'coupons' | 'taxes' | 'tax_exemption'>,
  credits: readonly PayingCredits[],
): InvoiceFigures {
  const paid = creditsOn(figures.lines, credits);
  const lines = figures.lines.map((line, index) => ({
    ...line,
    credits: textOf(paid[index] ?? zero),
  }));
  const sums = sumsOf(lines);
  const { coupons, taxes, tax_exemption } = figures;
  return {
    lines,
    coupons,
    taxes,
    tax_exemption,
    subtotal: textOf(sums.amount),
    total_discount: textOf(sums.discount),
    total_credits: textOf(sums.credits),
    total_tax: textOf(sums.tax.plus(sums.included)),
    total: textOf(notBelowZero(totalOf(sums))),
  };
}

/** Money by which the lines of an invoice come to less than nothing: it goes to the customer. */
export const givenBack = ({ lines }: Pick<InvoiceFigures, 'lines'>): DecimalText =>
  textOf(notBelowZero(totalOf(sumsOf(lines)).neg()));

/**
 * The money that credits may pay of lines that were discounted and taxed: of each what is left of it, and of all together what they
 * come to.
 */
export function payableBy(lines: InvoiceFigures['lines'], rules: CreditRules): DecimalText {
  const left = lines.map((line) => payableOf(line, rules).minus(decimal(line.credits)));
  const own = left.filter((each, index) => {
    const line = lines[index];
    return each.cmp(zero) > 0 && line !== undefined && mayPay(rules, line);
  });
  return textOf(notBelowZero(smaller(sum(own), sum(left))));
}

const mayPay = (
  { price_types }: CreditRules,
  { price_type }: Pick<InvoiceLine, 'price_type'>,
): boolean => price_types.includes('ALL') || price_types.includes(price_type);

/** The amount of a line that credits may pay, whoever does: less its discounts, with its tax where they cover that. */
const payableOf = (line: InvoiceLine, { covers_tax }: CreditRules): Decimal =>
  covers_tax ? netOf(line).plus(decimal(line.tax)) : netOf(line).minus(includedIn(line));

/** The tax that is in the amount of a line. */
export const includedIn = ({ included_tax = zeroText }: Pick<InvoiceLine, 'included_tax'>) =>
  decimal(included_tax);

/** The part of the tax of an invoice that is in the amounts of its lines. */
export const includedTaxOf = ({ lines }: Pick<InvoiceFigures, 'lines'>): DecimalText =>
  textOf(sum(lines.map(includedIn)));

/** All tax of a line: on top of its amount, and in it. */
export const taxOf = (line: Pick<InvoiceLine, 'tax' | 'included_tax'>): DecimalText =>
  textOf(decimal(line.tax).plus(includedIn(line)));

/** The amount of a line less its discounts. */
export const netOf = ({
  amount,
  line_discount,
  invoice_discount,
}: Pick<InvoiceLine, 'amount' | 'line_discount' | 'invoice_discount'>): Decimal =>
  decimal(amount).minus(decimal(line_discount)).minus(decimal(invoice_discount));

/** The discount of a coupon on both sides; `left` is what is left of an amount that it takes off, null for a percentage. */
function discountOn(
  sides: Sides,
  discount: AppliedCoupon['discount'],
  currency: Currency,
  left: Decimal | null,
): Sides {
  if (discount.type === 'percentage') return partsOf(sides, discount.percentage_off, currency);
  const charged = smaller(left ?? decimal(discount.amount_off), notBelowZero(both(sides)));
  return { charged, back: zero };
}

/** Discounts: of each line what was taken off and what is left, and the coupons that did it. */
interface Discounted {
  readonly discounts: readonly Decimal[];
  readonly nets: readonly Decimal[];
  readonly applied: readonly AppliedCoupon[];
}

function withLineCoupons({ currency, lines, coupons }: UntaxedBill): Discounted {
  const applied: AppliedCoupon[] = [];
  const nets = lines.map(({ amount }) => decimal(amount));
  for (const coupon of coupons) {
    if (coupon.level !== 'line') continue;
    const { discount } = coupon;
    let left = discount.type === 'fixed' ? decimal(discount.amount_off) : null;
    for (const [index, { id }] of lines.entries()) {
      const price = nets[index] ?? zero;
      if (!coupon.line_ids.includes(id) || price.eq(zero)) continue;
      const taken = both(discountOn(sidesOf([price]), discount, currency, left));
      if (left !== null) left = left.minus(taken);
      nets[index] = price.minus(taken);
      applied.push(...applicationOf(coupon, id, price, taken));
    }
  }
  const discounts = lines.map(({ amount }, index) => decimal(amount).minus(nets[index] ?? zero));
  return { discounts, nets, applied };
}

function withCouponsOfWhole(
  { currency, lines, coupons }: UntaxedBill,
  before: readonly Decimal[],
): Discounted {
  const applied: AppliedCoupon[] = [];
  let nets = before;
  for (const coupon of coupons) {
    if (coupon.level !== 'whole') continue;
    const own = lines.map(({ id }, index) =>
      coupon.line_ids.includes(id) ? (nets[index] ?? zero) : zero,
    );
    const price = sidesOf(own);
    const taken = discountOn(price, coupon.discount, currency, null);
    const shares = spreadOver(taken, own, currency);
    applied.push(...applicationOf(coupon, null, both(price), both(taken)));
    nets = nets.map((net, index) => net.minus(shares[index] ?? zero));
  }
  const discounts = before.map((net, index) => net.minus(nets[index] ?? zero));
  return { discounts, nets, applied };
}

/** The record of a discount; none where nothing was taken off. */
function applicationOf(
  { level: _level, line_ids: _lines, idFor, ...coupon }: BilledCoupon,
  line_id: InvoiceLineId | null,
  price: Decimal,
  taken: Decimal,
): AppliedCoupon[] {
  if (taken.eq(zero)) return [];
  return [
    {
      ...coupon,
      id: idFor(line_id),
      line_id,
      original_price: textOf(price),
      discounted_amount: textOf(taken),
      final_price: textOf(price.minus(taken)),
    },
  ];
}

/** Credits on each line: wallets in their order, each on the lines that it may pay, in theirs. */
function creditsOn(
  lines: InvoiceFigures['lines'],
  credits: readonly PayingCredits[],
): readonly Decimal[] {
  const paid = lines.map(() => zero);
  for (const wallet of credits) {
    const payable = lines.map((line) => payableOf(line, wallet));
    // What is given back lowers what there is to pay.
    const open = notBelowZero(sum(payable).minus(sum(paid)));
    let left = smaller(decimal(wallet.amount), open);
    for (const [index, line] of lines.entries()) {
      if (!mayPay(wallet, line)) continue;
      const unpaid = notBelowZero((payable[index] ?? zero).minus(paid[index] ?? zero));
      const taken = smaller(unpaid, left);
      paid[index] = (paid[index] ?? zero).plus(taken);
      left = left.minus(taken);
    }
  }
  return paid;
}

/** The sums over all lines. */
interface Sums {
  readonly amount: Decimal;
  readonly discount: Decimal;
  readonly credits: Decimal;
  /** On top of the amounts. */
  readonly tax: Decimal;
  /** Within the amounts. */
  readonly included: Decimal;
}

const sumsOf = (lines: InvoiceFigures['lines']): Sums => ({
  amount: sum(lines.map(({ amount }) => decimal(amount))),
  discount: sum(lines.map((line) => decimal(line.amount).minus(netOf(line)))),
  credits: sum(lines.map(({ credits }) => decimal(credits))),
  tax: sum(lines.map(({ tax }) => decimal(tax))),
  included: sum(lines.map(includedIn)),
});

const totalOf = ({ amount, discount, credits, tax }: Sums): Decimal =>
  amount.minus(discount).minus(credits).plus(tax);
