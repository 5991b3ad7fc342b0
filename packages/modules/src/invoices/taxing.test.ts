import { type Currency, type DecimalText, decimal, minorUnits, textOf } from '@counterfoil/kernel';
import { folded } from '@counterfoil/testkit';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { finalInvoice } from '../test-final-invoice.ts';
import { figuresOf, givenBack, includedTaxOf, netOf, payableBy } from './amounts.ts';
import type { InvoiceEvent, InvoiceFigures } from './events.ts';
import { type Invoice, invoice } from './invoice.ts';
import { noteTaxOf } from './settling/credited.ts';
import { figuresOfNote, noteOn } from './settling/notes.ts';
import { billOf, type TestBill } from './test-bill.ts';

const test = suite('taxes on top of prices and in them');

const shown = (given: TestBill) => {
  const figures = figuresOf(billOf(given));
  const { total_tax, total, taxes, lines } = figures;
  return {
    total: `${total}, ${total_tax} of tax, ${includedTaxOf(figures)} of it in prices`,
    taxes: taxes.map(({ taxable_amount, tax_amount }) => `${tax_amount} of ${taxable_amount}`),
    lines: lines.map(({ tax, included_tax = '0' }) => `${tax} on, ${included_tax} in`),
  };
};

/** Bills, and their totals, taxes, and those of the lines (docs/concepts/billing.md). */
const examples: readonly (readonly [TestBill, string, string, string])[] = [
  [
    { lines: 'F119', taxes: '19%' },
    '119, 19 of tax, 19 of it in prices',
    '19 of 100',
    '0 on, 19 in',
  ],
  [
    { lines: 'F100', taxes: '19%' },
    ...(['100, 15.97 of tax, 15.97 of it in prices', '15.97 of 84.03', '0 on, 15.97 in'] as const),
  ],
  // Several percentages are taken out together: 100 × 10 ÷ 110.
  [
    { lines: 'F100', taxes: '8% 2%' },
    '100, 9.09 of tax, 9.09 of it in prices',
    '7.27 of 90.91; 1.82 of 90.91',
    '0 on, 9.09 in',
  ],
  [
    { lines: 'F119 f100', taxes: '19%' },
    '238, 38 of tax, 19 of it in prices',
    '38 of 200',
    '0 on, 19 in; 19 on, 0 in',
  ],
  [
    { lines: 'F10 F10 F10', taxes: '7%' },
    '30, 1.96 of tax, 1.96 of it in prices',
    '1.96 of 28.04',
    '0 on, 0.66 in; 0 on, 0.65 in; 0 on, 0.65 in',
  ],
  [
    { lines: 'F119', whole: '10%', taxes: '19%' },
    ...(['107.1, 17.1 of tax, 17.1 of it in prices', '17.1 of 90', '0 on, 17.1 in'] as const),
  ],
  // Credits pay what is without tax.
  [
    { lines: 'F119', taxes: '19%', credits: 'all 200' },
    ...(['19, 19 of tax, 19 of it in prices', '19 of 100', '0 on, 19 in'] as const),
  ],
  [
    { lines: 'F1000', taxes: '10%', currency: 'jpy' },
    ...(['1000, 91 of tax, 91 of it in prices', '91 of 909', '0 on, 91 in'] as const),
  ],
  [
    { lines: 'F119 F-59.5', taxes: '19%' },
    '59.5, 9.5 of tax, 9.5 of it in prices',
    '9.5 of 50',
    '0 on, 19 in; 0 on, -9.5 in',
  ],
  // A fixed tax is in no price.
  [
    { lines: 'F119', taxes: '19% 5' },
    '124, 24 of tax, 19 of it in prices',
    '19 of 100; 5 of 100',
    '5 on, 19 in',
  ],
  [
    { lines: 'F119 f100', taxes: '19% 5' },
    '243, 43 of tax, 19 of it in prices',
    '38 of 200; 5 of 200',
    '0 on, 19 in; 24 on, 0 in',
  ],
  // Rates that are for some of the lines.
  [
    { lines: 'F119 F107 f100', taxes: '19%@0 7%@1+2' },
    '333, 33 of tax, 26 of it in prices',
    '19 of 100; 14 of 200',
    '0 on, 19 in; 0 on, 7 in; 7 on, 0 in',
  ],
  [
    { lines: 'f100 f50', taxes: '19%@0 7%@1 3@1' },
    '175.5, 25.5 of tax, 0 of it in prices',
    '19 of 100; 3.5 of 50; 3 of 50',
    '19 on, 0 in; 6.5 on, 0 in',
  ],
  [{ lines: 'F100' }, '100, 0 of tax, 0 of it in prices', '', '0 on, 0 in'],
];

for (const [given, total, taxes, lines] of examples) {
  test(`${JSON.stringify(given)}: ${total}`, () => {
    const expected = { total, taxes: taxes.split('; ').filter(Boolean), lines: lines.split('; ') };
    assert.equal(shown(given), expected);
  });
}

test('credits that cover tax pay all that an amount with tax in it comes to', () => {
  const { lines } = figuresOf(billOf({ lines: 'U119', taxes: '19%' }));
  const of = (covers_tax: boolean) => payableBy(lines, { price_types: ['USAGE'], covers_tax });
  assert.equal([of(false), of(true)], ['100', '119']);
});

const text = (units: number, digits: number): string => {
  const size = String(Math.abs(units)).padStart(digits + 1, '0');
  const shownUnits = digits === 0 ? size : `${size.slice(0, -digits)}.${size.slice(-digits)}`;
  return units < 0 ? `-${shownUnits}` : shownUnits;
};

const anyBill: fc.Arbitrary<TestBill> = fc.constantFrom('usd', 'jpy', 'kwd').chain((currency) => {
  const digits = minorUnits(currency as Currency);
  const line = fc
    .tuple(fc.constantFrom('u', 'f', 'U', 'F', 'F'), fc.integer({ min: -9_000, max: 30_000 }))
    .map(([type, units]) => type + text(units, digits));
  const percentage = fc.integer({ min: 1, max: 30_000 }).map((units) => `${text(units, 3)}%`);
  const fixed = fc.integer({ min: 1, max: 500 }).map((units) => text(units, digits));
  const places = fc.subarray(['0', '1', '2'], { minLength: 1 }).map((all) => `@${all.join('+')}`);
  const tax = fc
    .tuple(fc.oneof(percentage, percentage, fixed), fc.oneof(fc.constant(''), places))
    .map(([value, own]) => value + own);
  const blank = (words: readonly string[]): string => words.join(' ');
  return fc.record({
    currency: fc.constant(currency),
    lines: fc.array(line, { minLength: 3, maxLength: 6 }).map(blank),
    whole: fc.constantFrom('', '10%', '12.345%'),
    taxes: fc.array(tax, { maxLength: 3 }).map(blank),
    credits: fc.constantFrom('', 'all 50', '7'),
  });
});

type Of = (line: InvoiceFigures['lines'][number]) => string | undefined;
const sum = (amounts: readonly (string | undefined)[]): string =>
  textOf(amounts.reduce((all, amount) => all.plus(decimal(amount ?? '0')), decimal('0')));

test('amounts without tax and taxes add up to the total, and every share to its tax', () => {
  const property = fc.property(anyBill, (given) => {
    const figures = figuresOf(billOf(given));
    const { lines, taxes, total_tax } = figures;
    const ofLines = (of: Of) => sum(lines.map(of));
    const included = includedTaxOf(figures);
    assert.is(sum(taxes.map(({ tax_amount }) => tax_amount)), total_tax);
    assert.is(sum(taxes.map(({ included_amount }) => included_amount)), included);
    assert.is(sum([ofLines(({ tax }) => tax), included]), total_tax);
    const withoutTax = sum([
      ...lines.map((line) => textOf(netOf(line))),
      `-${included}`.replace('--', ''),
    ]);
    const worth = sum([withoutTax, total_tax, textOf(decimal(figures.total_credits).neg())]);
    assert.is(sum([figures.total, textOf(decimal(givenBack(figures)).neg())]), worth);
    for (const { amount, included_tax = '0', tax_behavior } of lines) {
      if (tax_behavior !== 'inclusive') assert.is(included_tax, '0');
      const sign = decimal(amount).s * decimal(included_tax).s;
      assert.ok(included_tax === '0' || sign > 0, 'tax goes with the amount that it is in');
    }
  });
  fc.assert(property, { numRuns: 200 });
});

test('tax in amounts is what it is in exact numbers, rounded once', () => {
  const property = fc.property(
    fc.array(fc.integer({ min: 1, max: 99_999 }), { minLength: 1, maxLength: 5 }),
    fc.array(fc.integer({ min: 1, max: 30_000 }), { minLength: 1, maxLength: 3 }),
    (amounts, rates) => {
      const lines = amounts.map((units) => `F${text(units, 2)}`).join(' ');
      const taxes = rates.map((units) => `${text(units, 3)}%`).join(' ');
      const figures = figuresOf(billOf({ lines, taxes }));
      const whole = BigInt(amounts.reduce((all, each) => all + each, 0));
      const part = BigInt(rates.reduce((all, each) => all + each, 0));
      const units = (2n * whole * part + 100_000n + part) / (2n * (100_000n + part));
      assert.is(includedTaxOf(figures), textOf(decimal(text(Number(units), 2))));
    },
  );
  fc.assert(property, { numRuns: 100 });
});

/** A final invoice with these figures. */
function invoiced(given: TestBill): Invoice {
  const [drafted, finalized] = finalInvoice({ lines: [] });
  const { currency } = billOf(given);
  const events: readonly InvoiceEvent[] = [
    { ...drafted, data: { ...drafted.data, currency } },
    { ...finalized, data: { ...finalized.data, ...figuresOf(billOf(given)) } },
  ] as never;
  return folded(invoice, events) as Invoice;
}

const asked = (credit_note_id: string, lines: readonly (readonly [string, string])[]) => ({
  credit_note_id,
  lines: lines.map(([line_id, amount]) => ({ line_id, amount: amount as DecimalText })),
});

test('a credit note takes the tax in a line back as it was taken', () => {
  const billed = invoiced({ lines: 'F119 f100', taxes: '19%' });
  const note = noteOn(
    billed,
    asked('cn_1', [
      ['inv_line_0', '59.5'],
      ['inv_line_1', '50'],
    ]),
  );
  assert.equal(
    note.lines.map(({ amount, tax, included_tax }) => [amount, tax, included_tax]),
    [
      ['59.5', '0', '9.5'],
      ['50', '9.5', undefined],
    ],
  );
  assert.equal([note.amount, ...note.lines.map(noteTaxOf)], ['119', '9.5', '9.5']);
  assert.throws(
    () => noteOn(billed, asked('cn_2', [['inv_line_0', '119.01']])),
    ({ errors }: { errors: { message: string }[] }) =>
      /after discounts and with the tax in it/.test(errors[0]?.message ?? ''),
  );
});

test('notes of a line with tax in it add up to the tax that was taken', () => {
  const property = fc.property(
    fc.integer({ min: 3, max: 99_999 }),
    fc.integer({ min: 1, max: 99 }),
    fc.integer({ min: 1, max: 30_000 }),
    (units, percent, rate) => {
      const billed = invoiced({ lines: `F${text(units, 2)}`, taxes: `${text(rate, 3)}%` });
      const part = Math.max(1, Math.floor((units * percent) / 100));
      const parts = [
        part,
        Math.floor((units - part) / 2),
        units - part - Math.floor((units - part) / 2),
      ];
      // Lines of one note are counted one after the other, as notes are.
      const note = figuresOfNote(
        billed,
        asked(
          'cn_1',
          parts.filter(Boolean).map((each) => ['inv_line_0', text(each, 2)]),
        ),
      );
      assert.is(sum(note.lines.map(noteTaxOf)), billed.total_tax);
      assert.is(note.amount, billed.total);
    },
  );
  fc.assert(property, { numRuns: 100 });
});

test.run();
