import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { invoiceDocument } from './invoice-document.ts';
import { chosenTag, localeOf } from './locale/locale.ts';
import { invoiceOf, line, setting } from './test-document.ts';

const test = suite('documents of invoices');

const plain = (text: string) => text.replaceAll(/[\u00a0\u202f]/g, ' ');

const totals = (...given: Parameters<typeof invoiceDocument>) =>
  invoiceDocument(...given).totals.map(({ label, value }) => [plain(label), plain(value)]);

test('the totals of the worked month', () => {
  assert.equal(totals(invoiceOf(), setting()), [
    ['Subtotal', '$122.00'],
    ['Ten percent', '-$12.20'],
    ['Prepaid credits', '-$5.00'],
    ['VAT 10% on $109.80', '$10.98'],
    ['Total', '$115.78'],
    ['Amount due', '$115.78'],
  ]);
});

test('payments and credit notes lead from the total to what is due', () => {
  const paid = invoiceOf({
    adjustment_amount: '15.78',
    amount_paid: '40.5',
    amount_remaining: '59.5',
  });
  assert.equal(totals(paid, setting('de')).slice(-4), [
    ['Gesamtbetrag', '115,78 $'],
    ['Gutschriften', '-15,78 $'],
    ['Bezahlt', '-40,50 $'],
    ['Offener Betrag', '59,50 $'],
  ]);
});

test('parts that are not the whole of a sum give way to the sum', () => {
  const [, discounts] = totals(invoiceOf({ total_discount: '13' }), setting());
  assert.equal(discounts, ['Discounts', '-$13.00']);
  const taxes = Array.from({ length: 21 }, () => invoiceOf().taxes[0]) as never;
  const shown = totals(invoiceOf({ taxes, total_tax: '230.58' }), setting());
  assert.equal(shown[3], ['Taxes', '$230.58']);
});

const amounts: readonly [tag: string, amount: string, currency: string, shown: string][] = [
  ['en', '99', 'usd', '$99.00'],
  ['en', '1104', 'jpy', '¥1,104'],
  ['en', '1.5', 'kwd', 'KWD 1.500'],
  ['en', '0.00000012', 'usd', '$0.00000012'],
  ['en', '12345678901234567890123456789.01', 'usd', '$12,345,678,901,234,567,890,123,456,789.01'],
  ['de', '1234567.89', 'eur', '1.234.567,89 €'],
  ['de-CH', '1234567.89', 'chf', "CHF 1'234'567.89"],
  ['fr', '-1234567.89', 'eur', '-1 234 567,89 €'],
  ['en-IN', '1234567.89', 'inr', '₹12,34,567.89'],
];

for (const [tag, amount, currency, shown] of amounts) {
  test(`${amount} ${currency} in ${tag} is ${shown}`, () => {
    assert.is(plain(localeOf(tag, 'UTC').money(amount, currency as never)), shown);
  });
}

test('quantities and rates have all their digits', () => {
  const { quantity, percentage } = localeOf('en', 'UTC');
  assert.is(
    quantity('12345678901234567.123456789012345'),
    '12,345,678,901,234,567.123456789012345',
  );
  assert.equal(
    [percentage('8.875'), percentage('10'), percentage('0.0001')],
    ['8.875%', '10%', '0.0001%'],
  );
});

test('days are those of the zone of the customer, and a period ends on its last day', () => {
  const [start, end] = ['2026-01-01T05:00:00.000Z', '2026-02-01T05:00:00.000Z'] as never[];
  const days = (zone: string) => localeOf('en', zone).days(start as never, end as never);
  assert.is(days('America/New_York'), 'Jan 1, 2026 – Jan 31, 2026');
  assert.is(days('UTC'), 'Jan 1, 2026 – Feb 1, 2026');
  assert.is(localeOf('fr', 'UTC').days(start as never, start as never), '1 janv. 2026');
});

test('the first tag counts in whose language documents are written', () => {
  assert.is(chosenTag('de_AT', 'fr'), 'de-AT');
  assert.is(chosenTag('ja', 'fr-CH-u-nu-thai'), 'fr-CH');
  for (const tag of [undefined, '', 'xx', '!', 'ja', '../en', 'e'.repeat(100)]) {
    assert.is(chosenTag(tag), 'en', String(tag));
  }
});

test('a line without a period, with what it had free and with its discount', () => {
  const lines = [
    line({
      period_start: null,
      period_end: null,
      quantity: '2.5',
      adjusted_entitlement_quantity: '0.5',
      line_item_discount: '2',
    }),
  ];
  const [row] = invoiceDocument(invoiceOf({ line_items: lines }), setting()).table.rows;
  assert.equal(row, {
    cells: ['API calls', '', '2.5', '$22.00'],
    notes: ['0.5 of it included, free of charge', 'Discount on this line: -$2.00'],
  });
});

test('tax that is in the prices is told below the total, and not added', () => {
  const [vat] = invoiceOf().taxes;
  const within = invoiceOf({
    ...{ subtotal: '119', total_discount: '0', total_prepaid_credits_applied: '0' },
    ...{ total_tax: '19', total_included_tax: '19', total: '119', amount_remaining: '119' },
    coupon_applications: [],
    taxes: [{ ...vat, taxable_amount: '100', tax_amount: '19', included_amount: '19' }] as never,
  });
  assert.equal(totals(within, setting()), [
    ['Subtotal', '$119.00'],
    ['Total', '$119.00'],
    ['Included: VAT 10% on $100.00', '$19.00'],
    ['Amount due', '$119.00'],
  ]);
  const mixed = invoiceOf({
    ...{ total_tax: '29', total_included_tax: '19' },
    taxes: [{ ...vat, taxable_amount: '200', tax_amount: '29', included_amount: '19' }] as never,
  });
  assert.equal(totals(mixed, setting('de')).slice(3, 6), [
    ['VAT 10 %', '10,00 $'],
    ['Gesamtbetrag', '115,78 $'],
    ['Enthalten: VAT 10 %', '19,00 $'],
  ]);
});

test('an invoice says why no tax is taken of who is exempt', () => {
  const tax_exemption = { number: 'DE811569869', reason: 'Reverse charge' };
  const exempt = { taxes: [], total_tax: '0', total: '104.8', tax_exemption };
  assert.equal(invoiceDocument(invoiceOf(exempt), setting()).notes, [
    'No tax is charged: exempt under number DE811569869 (Reverse charge).',
  ]);
  const unspoken = { ...exempt, tax_exemption: { number: '7', reason: null } };
  assert.equal(invoiceDocument(invoiceOf(unspoken), setting('de')).notes, [
    'Es wird keine Steuer berechnet: befreit unter Nummer 7.',
  ]);
});

test('an invoice without a customer to show names the id, and one without a number its own', () => {
  const { recipient, fileName, title } = invoiceDocument(
    invoiceOf({ customer: undefined, invoice_number: null }),
    setting(),
  );
  assert.equal(recipient, { name: 'cust_1', lines: [] });
  assert.is(fileName, 'inv_01KGA0000000000000000000AA');
  assert.is(title, 'Invoice inv_01KGA0000000000000000000AA');
});

test.run();
