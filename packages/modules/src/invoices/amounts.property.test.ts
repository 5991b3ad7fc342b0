import { type Currency, decimal, minorUnits } from '@counterfoil/kernel';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { figuresOf, givenBack, netOf } from './amounts.ts';
import type { InvoiceFigures } from './events.ts';
import { billOf, type TestBill } from './test-bill.ts';
import { amountsByOracle, unitsOf } from './test-oracle.ts';

const test = suite('properties of the amounts of an invoice');

const currencies = ['usd', 'jpy', 'kwd'] as const;

const text = (units: number, digits: number): string => {
  const size = String(Math.abs(units)).padStart(digits + 1, '0');
  const sign = units < 0 ? '-' : '';
  const whole = size.slice(0, size.length - digits);
  return digits === 0 ? `${sign}${size}` : `${sign}${whole}.${size.slice(-digits)}`;
};

const several = <Value>(value: fc.Arbitrary<Value>, maxLength: number) =>
  fc.array(value, { maxLength });

/** An invoice; negative lines only where they are asked for. */
const billArbitrary = (lowest: number): fc.Arbitrary<TestBill> =>
  fc.constantFrom(...currencies).chain((currency) => {
    const digits = minorUnits(currency as Currency);
    const amount = fc.integer({ min: 0, max: 20_000 }).map((units) => text(units, digits));
    const percentage = fc.integer({ min: 1, max: 100_000 }).map((units) => `${text(units, 3)}%`);
    const discount = fc.oneof(percentage, amount);
    const line = fc
      .tuple(fc.constantFrom('u', 'f'), fc.integer({ min: lowest, max: 30_000 }))
      .map(([type, units]) => `${type}${text(units, digits)}`);
    const wallet = fc
      .tuple(fc.constantFrom('', 'all ', 'fixed '), amount)
      .map(([type, left]) => type + left);
    const blank = (words: readonly string[]): string => words.join(' ');
    return fc.record({
      currency: fc.constant(currency),
      lines: several(line, 7).map(blank),
      ofLines: fc.dictionary(fc.constantFrom('0', '1', '2'), several(discount, 2).map(blank)),
      whole: several(discount, 3).map(blank),
      taxes: several(discount, 3).map(blank),
      credits: several(wallet, 3).map((wallets) => wallets.join(',')),
    });
  });

const sumIn = (figures: InvoiceFigures, of: (line: InvoiceFigures['lines'][number]) => string) =>
  String(figures.lines.reduce((sum, line) => sum.plus(decimal(of(line))), decimal('0')));

test('lines add up to each total, none comes to less than nothing, and neither does the whole (E 26)', () => {
  const property = fc.property(billArbitrary(-10_000), (given) => {
    const bill = billOf(given);
    const figures = figuresOf(bill);
    assert.is(
      sumIn(figures, ({ amount }) => amount),
      figures.subtotal,
    );
    const discounts = decimal(sumIn(figures, ({ line_discount }) => line_discount)).plus(
      decimal(sumIn(figures, ({ invoice_discount }) => invoice_discount)),
    );
    assert.is(String(discounts), figures.total_discount);
    assert.is(
      sumIn(figures, ({ credits }) => credits),
      figures.total_credits,
    );
    assert.is(
      sumIn(figures, ({ tax }) => tax),
      figures.total_tax,
    );
    const applied = figures.coupons.reduce(
      (sum, coupon) => sum.plus(decimal(coupon.discounted_amount)),
      decimal('0'),
    );
    assert.is(String(applied), figures.total_discount);
    const taxes = figures.taxes.reduce(
      (sum, tax) => sum.plus(decimal(tax.tax_amount)),
      decimal('0'),
    );
    assert.is(String(taxes), figures.total_tax);
    const raw = decimal(figures.subtotal)
      .minus(decimal(figures.total_discount))
      .minus(decimal(figures.total_credits))
      .plus(decimal(figures.total_tax));
    assert.is(String(decimal(figures.total).minus(decimal(givenBack(figures)))), String(raw));
    assert.ok(decimal(figures.total).gte(decimal('0')));
    for (const line of figures.lines) {
      const net = netOf(line);
      if (decimal(line.amount).gte(decimal('0'))) assert.ok(net.gte(decimal('0')), 'a net amount');
      else assert.ok(net.lte(decimal('0')), 'what is given back');
      assert.ok(decimal(line.credits).lte(net.gte(decimal('0')) ? net : decimal('0')));
    }
    const available = bill.credits.reduce(
      (sum, { amount }) => sum.plus(decimal(amount)),
      decimal('0'),
    );
    assert.ok(decimal(figures.total_credits).lte(available));
  });
  fc.assert(property, { numRuns: 300 });
});

test('an arithmetic of its own comes to the same', () => {
  const property = fc.property(billArbitrary(0), (given) => {
    const figures = figuresOf(billOf(given));
    const digits = minorUnits(given.currency as Currency);
    const units = (amount: string): bigint => unitsOf(amount, digits);
    const own = amountsByOracle(given, digits);
    assert.equal(
      {
        subtotal: units(figures.subtotal),
        discount: units(figures.total_discount),
        credits: units(figures.total_credits),
        tax: units(figures.total_tax),
        total: units(figures.total),
        lines: figures.lines.map(({ line_discount, invoice_discount, credits, tax }) =>
          [line_discount, invoice_discount, credits, tax].map(units),
        ),
      },
      own,
    );
  });
  fc.assert(property, { numRuns: 500 });
});

test.run();
