import type { Currency, DecimalText } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { atStripe } from './amounts.ts';

const test = suite('amounts at Stripe');

/** Amounts, and what Stripe counts them as: null where it cannot take exactly this. */
const table = [
  ['10.99', 'usd', 1_099],
  ['0.01', 'eur', 1],
  ['500', 'jpy', 500],
  ['1.234', 'kwd', null],
  ['1.23', 'kwd', 1_230],
  ['5', 'isk', 500],
  ['7', 'ugx', 700],
  ['12', 'mga', 12],
  ['12.2', 'mga', null],
  ['0.001', 'usd', null],
  ['90071992547409.93', 'usd', null],
] as const;

for (const [amount, currency, units] of table) {
  test(`${amount} ${currency} is ${units ?? 'nothing that it can take'}`, () => {
    assert.is(atStripe(amount as DecimalText, currency as Currency), units);
  });
}

test.run();
