import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type DecimalText, decimal } from './decimal.ts';
import type { Currency } from './money.ts';
import { shareOf, spread } from './spread.ts';

const test = suite('spread');

for (const [amount, weights, currency, expected] of [
  ['10', '1 1 1', 'usd', '3.34 3.33 3.33'],
  ['10', '5 7', 'usd', '4.17 5.83'],
  ['-10', '5 7', 'usd', '-4.17 -5.83'],
  ['0.01', '0.5 0.25 1.75', 'usd', '0 0 0.01'],
  ['100', '1 1 1', 'jpy', '34 33 33'],
  ['1', '0 3 0', 'kwd', '0 1 0'],
  ['0', '0 0', 'usd', '0 0'],
  ['0', '', 'usd', ''],
] as const) {
  test(`${amount} ${currency} over ${weights || 'nothing'}`, () => {
    const parts = spread(
      amount as DecimalText,
      weights.split(' ').filter(Boolean).map(decimal),
      currency as Currency,
    );
    assert.is(parts.join(' '), expected);
  });
}

for (const [amount, weights, says] of [
  ['1', '0 0', /nothing to spread/],
  ['1', '', /nothing to spread/],
  ['1', '2 -1', /negative/],
  ['1.001', '1', /more than 2 digits/],
] as const) {
  test(`${amount} usd over ${weights || 'nothing'} is refused`, () => {
    const given = weights.split(' ').filter(Boolean).map(decimal);
    assert.throws(() => spread(amount as DecimalText, given, 'usd' as Currency), says);
  });
}

test('parts add up to the amount, each is nearer than one unit to its share, and more weight gets no less', () => {
  const weight = fc.bigInt({ min: 0n, max: 10n ** 12n });
  fc.assert(
    fc.property(
      fc.bigInt({ min: -(10n ** 14n), max: 10n ** 14n }),
      fc.array(weight, { minLength: 1, maxLength: 12 }),
      fc.nat(4),
      (cents, weights, digits) => {
        const whole = weights.reduce((sum, each) => sum + each, 0n);
        if (whole === 0n) return;
        const amount = decimal(`${cents}e-2`).toFixed() as DecimalText;
        const parts = spread(
          amount,
          weights.map((each) => decimal(`${each}e-${digits}`)),
          'usd' as Currency,
        );
        const units = parts.map((part) => BigInt(decimal(part).times(decimal('100')).toFixed(0)));
        assert.is(
          units.reduce((sum, each) => sum + each, 0n),
          cents,
        );
        for (const [index, each] of units.entries()) {
          const off = each * whole - cents * (weights[index] ?? 0n);
          assert.ok((off < 0n ? -off : off) < whole, `${each} of ${cents}`);
        }
        const size = (value: bigint) => (value < 0n ? -value : value);
        for (const [one, more] of weights.entries()) {
          for (const [other, less] of weights.entries()) {
            if (more > less) assert.ok(size(units[one] ?? 0n) >= size(units[other] ?? 0n));
          }
        }
      },
    ),
    { numRuns: 1_000 },
  );
});

for (const [amount, part, whole, currency, expected] of [
  ['31', 12n, 31n, 'usd', '12'],
  ['100', 1n, 31n, 'usd', '3.23'],
  ['10', 1n, 16n, 'usd', '0.63'],
  ['-10', 1n, 16n, 'usd', '-0.63'],
  ['0.01', 1n, 2n, 'usd', '0.01'],
  ['0.0099999999', 1n, 2n, 'usd', '0'],
  ['1000', 1n, 3n, 'jpy', '333'],
  ['1', 2n, 3n, 'kwd', '0.667'],
  ['10.275', 1n, 1n, 'usd', '10.28'],
  ['5', 0n, 7n, 'usd', '0'],
  ['20', 5n, 4n, 'usd', '25'],
] as const) {
  test(`${part} of ${whole} of ${amount} ${currency}`, () => {
    assert.is(shareOf(decimal(amount), part, whole, currency as Currency), expected);
  });
}

test('there is no share of nothing', () => {
  assert.throws(() => shareOf(decimal('1'), 1n, 0n, 'usd' as Currency), /part of something/);
});

test.run();
