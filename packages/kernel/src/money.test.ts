import * as currencyTable from 'dinero.js/bigint/currencies';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type DecimalText, decimal } from './decimal.ts';
import {
  add,
  type Currency,
  currencySchema,
  digitsFault,
  minorUnits,
  money,
  moneyText,
} from './money.ts';

const test = suite('money');

const codes = Object.keys(currencyTable).map((code) => currencySchema.parse(code));
const rounded = (amount: string, currency: string): string =>
  moneyText(money(decimal(amount), currency as Currency));

test('rounds once, half away from zero, at the digits of the currency', () => {
  const cases: [amount: string, currency: string, expected: string][] = [
    ['10.275', 'usd', '10.28'],
    ['-10.125', 'usd', '-10.13'],
    ['0.005', 'gbp', '0.01'],
    ['0.00499999999999999999999', 'gbp', '0'],
    ['1000.5', 'jpy', '1001'],
    ['1000.49', 'jpy', '1000'],
    ['0.0005', 'kwd', '0.001'],
    ['0.00005', 'clf', '0.0001'],
    ['1.005', 'mga', '1.01'],
    ['1.004', 'mru', '1'],
  ];
  for (const [amount, currency, expected] of cases) {
    assert.is(rounded(amount, currency), expected, `${amount} ${currency}`);
  }
});

test('an amount that nobody could pay has a fault', () => {
  const isPayable = (amount: string, currency: string) =>
    digitsFault(amount as DecimalText, currency as Currency) === null;
  for (const [amount, currency] of [
    ['10', 'jpy'],
    ['10.55', 'usd'],
    ['-0.005', 'kwd'],
  ] as const) {
    assert.ok(isPayable(amount, currency), `${amount} ${currency}`);
  }
  for (const [amount, currency] of [
    ['10.5', 'jpy'],
    ['10.555', 'usd'],
    ['0.0001', 'kwd'],
  ] as const) {
    assert.not.ok(isPayable(amount, currency), `${amount} ${currency}`);
  }
});

test('every currency that is accepted has amounts, sums and a text', () => {
  assert.ok(codes.length > 150);
  for (const currency of codes) {
    const smallest =
      minorUnits(currency) === 0 ? '1' : `0.${'1'.padStart(minorUnits(currency), '0')}`;
    const one = money(decimal(smallest), currency);
    assert.is(moneyText(one), smallest, currency);
    assert.is(
      moneyText(add(one, money(decimal('1'), currency))).at(-1),
      smallest === '1' ? '2' : '1',
    );
  }
});

test.run();
