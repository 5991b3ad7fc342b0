import type { Currency } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  figuresOf,
  givenBack,
  netOf,
  type PayingCredits,
  payableBy,
  withCredits,
} from './amounts.ts';
import { billOf, type TestBill } from './test-bill.ts';

const test = suite('amounts of an invoice');

/** The figures of an invoice as one line of text. */
const shown = (given: TestBill): string => {
  const figures = figuresOf(billOf(given));
  const { subtotal, total_discount, total_credits, total_tax, total } = figures;
  return `${subtotal} − ${total_discount} − ${total_credits} + ${total_tax} = ${total}`;
};

/** E 15.3, 20, 21, and docs/concepts/billing.md: what is billed, and what it comes to. */
const examples: readonly (readonly [TestBill, string])[] = [
  // E 15.3.
  [{ lines: 'f30 f70', whole: '10%', credits: 'all 20' }, '100 − 10 − 20 + 0 = 70'],
  [
    { lines: 'u50 u50', ofLines: { 0: '50%' }, whole: '10', credits: '20' },
    '100 − 35 − 20 + 0 = 45',
  ],
  [{ lines: 'u100', ofLines: { 0: '10%' }, whole: '20%', credits: '10' }, '100 − 28 − 10 + 0 = 62'],
  [{ lines: 'u50 f50', whole: '10', credits: '25' }, '100 − 10 − 25 + 0 = 65'],
  [{ lines: 'u50.33 u49.67', whole: '12.5%', credits: '8.27' }, '100 − 12.5 − 8.27 + 0 = 79.23'],
  [{ lines: 'u0.03 u0.04', whole: '50%', credits: '0.01' }, '0.07 − 0.04 − 0.01 + 0 = 0.02'],
  [
    { lines: 'u999999.99', whole: '1%', credits: '5000' },
    '999999.99 − 10000 − 5000 + 0 = 984999.99',
  ],
  [{ lines: 'f100', whole: '20', taxes: '10%' }, '100 − 20 − 0 + 8 = 88'],
  [{ lines: 'f100' }, '100 − 0 − 0 + 0 = 100'],
  // E 20.
  [{ lines: 'f10', whole: '15.5%' }, '10 − 1.55 − 0 + 0 = 8.45'],
  [{ lines: 'f10', whole: '33.333%' }, '10 − 3.33 − 0 + 0 = 6.67'],
  [{ lines: 'f1', whole: '0.1%' }, '1 − 0 − 0 + 0 = 1'],
  [{ lines: 'f10', whole: '15' }, '10 − 10 − 0 + 0 = 0'],
  [{ lines: 'f1000', whole: '10%', currency: 'jpy' }, '1000 − 100 − 0 + 0 = 900'],
  [{ lines: 'f999', whole: '10%', currency: 'jpy' }, '999 − 100 − 0 + 0 = 899'],
  [{ lines: 'f100', ofLines: { 0: '10%' }, whole: '20%' }, '100 − 28 − 0 + 0 = 72'],
  [{ lines: 'f100', whole: '10% 10%' }, '100 − 19 − 0 + 0 = 81'],
  [{ lines: 'f100', whole: '10% 10' }, '100 − 20 − 0 + 0 = 80'],
  // E 20 B: discounts of a line are taken off what is left of it, so that it never comes to less than nothing.
  [{ lines: 'f10', ofLines: { 0: '8 8' } }, '10 − 10 − 0 + 0 = 0'],
  [{ lines: 'f100', ofLines: { 0: '50% 50%' } }, '100 − 75 − 0 + 0 = 25'],
  // E 21.
  [{ lines: 'f100', taxes: '8.875%' }, '100 − 0 − 0 + 8.88 = 108.88'],
  [{ lines: 'f99.99', taxes: '20%' }, '99.99 − 0 − 0 + 20 = 119.99'],
  [{ lines: 'f123.45', taxes: '7.25%' }, '123.45 − 0 − 0 + 8.95 = 132.4'],
  [{ lines: 'f999', taxes: '10.5%', currency: 'jpy' }, '999 − 0 − 0 + 105 = 1104'],
  [{ lines: 'f100', taxes: '8% 2%' }, '100 − 0 − 0 + 10 = 110'],
  [{ lines: 'f100', whole: '10', taxes: '10%' }, '100 − 10 − 0 + 9 = 99'],
  // E 21 B: an amount is no tax on nothing.
  [{ lines: 'f100', whole: '100%', taxes: '5' }, '100 − 100 − 0 + 0 = 0'],
  [{ lines: 'f100', taxes: '5' }, '100 − 0 − 0 + 5 = 105'],
  // E 31.
  [{ lines: 'f100', whole: '10%', taxes: '10%', credits: '5' }, '100 − 10 − 0 + 9 = 99'],
  [
    { lines: 'u22 f100', whole: '10%', taxes: '10%', credits: '5' },
    '122 − 12.2 − 5 + 10.98 = 115.78',
  ],
  [{ lines: 'f14', whole: '10%', taxes: '10%' }, '14 − 1.4 − 0 + 1.26 = 13.86'],
  [{ lines: 'u10', whole: '10%', taxes: '10%', credits: '22' }, '10 − 1 − 9 + 0.9 = 0.9'],
  // Three digits.
  [{ lines: 'f1 f1 f1', whole: '1', taxes: '5%', currency: 'kwd' }, '3 − 1 − 0 + 0.1 = 2.1'],
  // What is given back takes its discount and its tax with it.
  [{ lines: 'f20 f-10', whole: '10%', taxes: '10%' }, '10 − 1 − 0 + 0.9 = 9.9'],
  [{ lines: 'f20 f-15', whole: '10' }, '5 − 5 − 0 + 0 = 0'],
  [{ lines: 'f10 f-25', whole: '10%', taxes: '10%' }, '-15 − -1.5 − 0 + -1.35 = 0'],
  [{ lines: 'u20 f-15', credits: '20' }, '5 − 0 − 5 + 0 = 0'],
  [{ lines: '', taxes: '10% 5', whole: '10% 5', credits: '5' }, '0 − 0 − 0 + 0 = 0'],
];

for (const [given, expected] of examples) {
  test(`${JSON.stringify(given)}: ${expected}`, () => assert.is(shown(given), expected));
}

test('each part is spread over the lines, and all of it is there', () => {
  const { lines } = figuresOf(
    billOf({ lines: 'u22 f100', whole: '10%', taxes: '10%', credits: '5' }),
  );
  assert.equal(
    lines.map(({ invoice_discount, credits, tax }) => [invoice_discount, credits, tax]),
    [
      ['2.2', '5', '1.98'],
      ['10', '0', '9'],
    ],
  );
});

test('what is left over goes by largest remainder, to the first of those that lack as much', () => {
  const { lines } = figuresOf(billOf({ lines: 'f10 f10 f10', whole: '10', taxes: '1%' }));
  assert.equal(
    lines.map(({ invoice_discount, tax }) => [invoice_discount, tax]),
    [
      ['3.34', '0.06'],
      ['3.33', '0.07'],
      ['3.33', '0.07'],
    ],
  );
});

test('wallets pay in their order, each what it may, and the lines in theirs', () => {
  const figures = figuresOf(billOf({ lines: 'u5 f10 u20', credits: 'fixed 4,7,all 9' }));
  assert.equal(
    figures.lines.map(({ credits }) => credits),
    ['5', '10', '5'],
  );
  assert.is(figures.total, '15');
});

test('what credits may pay of an invoice depends on its price types, and on what others have paid', () => {
  const { lines } = figuresOf(billOf({ lines: 'u5 f10 u20 f-8', credits: 'fixed 4' }));
  const payable = (price_types: PayingCredits['price_types']) =>
    payableBy(lines, { price_types, covers_tax: false });
  assert.is(payable(['USAGE']), '23');
  assert.is(payable(['FIXED']), '6');
  assert.is(payable(['ALL']), '23');
  assert.is(payable(['USAGE', 'FIXED']), '23');
});

test('credits pay the tax of their lines where that is set', () => {
  const bill = billOf({ lines: 'u10 f20', taxes: '10%', credits: '50' });
  const figures = figuresOf(bill);
  assert.equal([figures.total_credits, figures.total], ['10', '23']);
  const credits = bill.credits.map((wallet) => ({ ...wallet, covers_tax: true }));
  const covered = withCredits(figures, credits);
  assert.equal([covered.total_credits, covered.total_tax, covered.total], ['11', '3', '22']);
  assert.is(payableBy(figures.lines, { price_types: ['ALL'], covers_tax: true }), '23');
});

test('what the lines come to less than nothing by is told', () => {
  const figures = figuresOf(billOf({ lines: 'f10 f-25', whole: '10%', taxes: '10%' }));
  assert.is(givenBack(figures), '14.85');
  assert.is(givenBack(figuresOf(billOf({ lines: 'f10' }))), '0');
});

test('every discount that was taken is told with what it was taken of', () => {
  const { coupons } = figuresOf(
    billOf({ lines: 'f100 f50', ofLines: { 0: '10%' }, whole: '20% 0.01%' }),
  );
  assert.equal(
    coupons.map(({ line_id, original_price, discounted_amount, final_price }) => [
      line_id,
      original_price,
      discounted_amount,
      final_price,
    ]),
    [
      ['inv_line_0', '100', '10', '90'],
      [null, '140', '28', '112'],
      [null, '112', '0.01', '111.99'],
    ],
  );
});

test('a coupon that took nothing off was not applied', () => {
  assert.equal(figuresOf(billOf({ lines: 'f0', whole: '10% 5' })).coupons, []);
});

test('an amount off a charge that has come to several lines is taken off once', () => {
  const bill = billOf({ lines: 'u5 u20' });
  const [coupon] = billOf({ lines: 'u5', ofLines: { 0: '8' } }).coupons;
  assert.ok(coupon);
  const line_ids = bill.lines.map(({ id }) => id);
  const { lines } = figuresOf({ ...bill, coupons: [{ ...coupon, line_ids }] });
  assert.equal(
    lines.map(({ line_discount }) => line_discount),
    ['5', '3'],
  );
});

test('a coupon that is for some lines only leaves the others as they are', () => {
  const bill = billOf({ lines: 'u10 f20 u30', whole: '10% 5' });
  const coupons = bill.coupons.map((coupon, index) => ({
    ...coupon,
    line_ids: bill.lines.filter((_, place) => place !== index).map(({ id }) => id),
  }));
  assert.equal(
    figuresOf({ ...bill, coupons }).lines.map(({ invoice_discount }) => invoice_discount),
    ['1.35', '2', '6.65'],
  );
});

test('what is left of a line is its net amount', () => {
  const { lines } = figuresOf(billOf({ lines: 'f100', ofLines: { 0: '10%' }, whole: '20%' }));
  assert.is(String(lines[0] && netOf(lines[0])), '72');
});

test('an amount with more digits than the currency has is no money', () => {
  const bill = { ...billOf({ lines: 'f0.5', whole: '10' }), currency: 'jpy' as Currency };
  assert.throws(() => figuresOf(bill), /digits/);
});

test.run();
