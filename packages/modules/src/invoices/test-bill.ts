import type {
  AppliedTaxId,
  CouponApplicationId,
  Currency,
  DecimalText,
  InvoiceLineId,
} from '@counterfoil/kernel';
import type { Bill, BilledCoupon, BilledLine, BilledTax, PayingCredits } from './amounts.ts';

/** A bill in short: amounts and percentages as texts, with blanks between them. */
export interface TestBill {
  readonly currency?: string;
  /** A letter for the price type, fixed or usage, and the amount: `f10 u2.5`. A capital: tax is in it. */
  readonly lines: string;
  /** Discounts of the lines by their places. */
  readonly ofLines?: Readonly<Record<number, string>>;
  readonly whole?: string;
  /** With the places of their lines where they are not for all: `10% 7%@0+2`. */
  readonly taxes?: string;
  /** Wallets with commas between them; each pays usage unless it says `all` or `fixed`. */
  readonly credits?: string;
}

const words = (text = ''): string[] => text.split(' ').filter(Boolean);
const lineId = (index: number): InvoiceLineId => `inv_line_${index}` as InvoiceLineId;

/** The bill that a test writes in short. */
export function billOf({
  currency = 'usd',
  lines,
  ofLines = {},
  whole,
  taxes,
  credits,
}: TestBill): Bill {
  const ofOne = Object.entries(ofLines).flatMap(([index, discounts]) =>
    words(discounts).map((text, place) =>
      couponOf(text, `${index}.${place}`, 'line', [lineId(Number(index))], currency),
    ),
  );
  const all = words(lines).map((_, index) => lineId(index));
  const ofAll = words(whole).map((text, place) =>
    couponOf(text, `${place}`, 'whole', all, currency),
  );
  return {
    currency: currency as Currency,
    lines: words(lines).map(lineOf),
    coupons: [...ofOne, ...ofAll],
    taxes: words(taxes).map(taxOf),
    exemption: null,
    credits: (credits ?? '').split(',').filter(Boolean).map(creditsOf),
  };
}

const isUsage = (text: string): boolean => text[0]?.toLowerCase() === 'u';

const lineOf = (text: string, index: number): BilledLine => ({
  id: lineId(index),
  kind: isUsage(text) ? 'usage' : 'fixed',
  subscription_id: null,
  subscription_line_item_id: null,
  entity_type: null,
  entity_id: null,
  plan_display_name: null,
  price_id: null,
  price_type: isUsage(text) ? 'USAGE' : 'FIXED',
  price_unit: null,
  price_unit_id: null,
  price_unit_amount: null,
  meter_id: null,
  meter_display_name: null,
  display_name: text,
  quantity: '1' as DecimalText,
  free_quantity: null,
  amount: text.slice(1) as DecimalText,
  ...(/^[A-Z]/.test(text) && { tax_behavior: 'inclusive' }),
  period_start: null,
  period_end: null,
  commitment: null,
  metadata: {},
});

const couponOf = (
  text: string,
  name: string,
  level: BilledCoupon['level'],
  line_ids: readonly InvoiceLineId[],
  currency: string,
): BilledCoupon => ({
  coupon_id: `coupon_${name}`,
  coupon_association_id: null,
  subscription_id: null,
  name,
  level,
  line_ids,
  idFor: (id) => `coupon_app_${name}_${id}` as CouponApplicationId,
  discount: text.endsWith('%')
    ? { type: 'percentage', percentage_off: text.slice(0, -1) as DecimalText }
    : { type: 'fixed', amount_off: text as DecimalText, currency: currency as Currency },
});

const taxOf = (word: string, place: number): BilledTax => {
  const [text = '', places] = word.split('@');
  return {
    id: `taxapp_${place}` as AppliedTaxId,
    tax_rate_id: `taxrate_${place}`,
    tax_association_id: null,
    code: `T${place}`,
    name: text,
    percentage: text.endsWith('%') ? (text.slice(0, -1) as DecimalText) : null,
    fixed: text.endsWith('%') ? null : (text as DecimalText),
    ...(places !== undefined && {
      line_ids: places.split('+').map((each) => lineId(Number(each))),
    }),
  };
};

function creditsOf(text: string): PayingCredits {
  const parts = words(text);
  const amount = parts.at(-1) as DecimalText;
  const types = { all: ['ALL'], fixed: ['FIXED'] } as const;
  const named = parts.length > 1 ? types[parts[0] as keyof typeof types] : (['USAGE'] as const);
  return { amount, price_types: named, covers_tax: false };
}
