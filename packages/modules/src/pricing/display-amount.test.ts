import type { Currency } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { displayAmount, displayPriceUnitAmount, displayTotal } from './display-amount.ts';
import { text } from './test-terms.ts';

const test = suite('display of amounts');

test('an amount of a price shows its symbol and its own digits', () => {
  const cases: [amount: string, currency: string, shown: string][] = [
    ['12.5', 'usd', '$12.5'],
    ['100', 'usd', '$100'],
    ['0', 'usd', '$0'],
    ['0.000000000002', 'usd', '$0.000000000002'],
    ['12.345', 'eur', '€12.345'],
    ['1', 'gbp', '£1'],
    ['99', 'inr', '₹99'],
    ['1000.5', 'jpy', '¥1000.5'],
    ['7', 'aud', 'AUS7'],
    ['7', 'cad', 'CAD7'],
    ['1.25', 'kwd', 'KWD1.25'],
    ['-3.5', 'usd', '-$3.5'],
  ];
  for (const [amount, currency, shown] of cases) {
    assert.is(displayAmount(text(amount), currency as Currency), shown);
  }
});

test('an amount in a unit shows the symbol of the unit', () => {
  assert.is(displayPriceUnitAmount(text('12.5'), '¤'), '¤12.5');
  assert.is(displayPriceUnitAmount(text('-1'), 'CR'), '-CR1');
});

test('a total shows all digits of its currency', () => {
  const cases: [amount: string, currency: string, shown: string][] = [
    ['12.5', 'usd', '$12.50'],
    ['0', 'usd', '$0.00'],
    ['10.275', 'usd', '$10.28'],
    ['-10.125', 'usd', '-$10.13'],
    ['1000.5', 'jpy', '¥1001'],
    ['1.5', 'kwd', 'KWD1.500'],
    ['123456789012345678901234567890.1', 'eur', '€123456789012345678901234567890.10'],
  ];
  for (const [amount, currency, shown] of cases) {
    assert.is(displayTotal(text(amount), currency as Currency), shown);
  }
});

test.run();
