import { BrokenInvariant, type Currency } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { cost, costOfBuckets } from './cost.ts';
import type { PriceTerms } from './terms.ts';
import { costs } from './test-costs.ts';
import { atLeast, flatFee, graduated, inUnit, packages, text, volume } from './test-terms.ts';

const test = suite('cost');
const usd = 'usd' as Currency;

/** Values of buckets, what they cost exactly, and what is charged. */
type BucketRow = readonly [values: readonly string[], unrounded: string, amount: string];

function bucketsCost(terms: PriceTerms, currency: string, rows: readonly BucketRow[]): void {
  for (const [values, unrounded, amount] of rows) {
    const found = costOfBuckets(terms, values.map(text), currency as Currency);
    assert.equal([found.unrounded_amount, found.amount], [unrounded, amount], values.join(' '));
  }
}

test('buckets: tiers start again in each', () => {
  const tiers = [
    ['10', '0.1'],
    ['20', '0.05'],
    [null, '0.02'],
  ] as const;
  bucketsCost(graduated(...tiers), 'usd', [
    [['9', '15'], '2.15', '2.15'],
    [['24'], '1.58', '1.58'],
    [['10', '10'], '2', '2'],
    [['20.5', '0.5', '3'], '1.86', '1.86'],
    [['0', '0'], '0', '0'],
    [[], '0', '0'],
  ]);
  bucketsCost(volume(...tiers), 'usd', [
    [['9', '15'], '1.65', '1.65'],
    [['24'], '0.48', '0.48'],
    [['10', '10.000000000000001'], '1.50000000000000005', '1.5'],
  ]);
});

test('buckets: packages start again in each', () =>
  bucketsCost(packages('1', '10'), 'usd', [
    [['9', '10'], '2', '2'],
    [['5', '5'], '2', '2'],
    [['10.5', '0'], '2', '2'],
    [['0.000000000000001', '0.000000000000001', '11'], '4', '4'],
  ]));

test('buckets: packages that are rounded down', () =>
  bucketsCost(packages('1', '10', 'down'), 'usd', [
    [['9', '9'], '0', '0'],
    [['10', '19', '21'], '4', '4'],
  ]));

test('buckets: a flat fee is the same as without', () =>
  bucketsCost(flatFee('0.1'), 'usd', [
    [['0', '5', '0'], '0.5', '0.5'],
    [['0.05', '0.05', '0.05'], '0.015', '0.02'],
  ]));

test('buckets: the sum is rounded, not each', () => {
  bucketsCost(flatFee('0.004'), 'usd', [[['1', '1', '1'], '0.012', '0.01']]);
  bucketsCost(flatFee('0.4'), 'jpy', [[['1', '1', '1'], '1.2', '1']]);
});

test('buckets: a flat amount is charged in each that is not empty', () =>
  bucketsCost(graduated(['10', '0', '3'], [null, '1', '4']), 'usd', [
    [['0'], '0', '0'],
    [['0', '1', '0'], '3', '3'],
    [['10', '11'], '11', '11'],
    [['0.5', '0.5'], '6', '6'],
  ]));

test('buckets: groups of a bucket are values like any other', () =>
  bucketsCost(graduated(['10', '1'], [null, '2']), 'inr', [[['3', '12'], '17', '17']]));

test('buckets: the quantity is their sum, the charges are in their order', () => {
  const found = costOfBuckets(flatFee('2'), ['9', '0.5', '15'].map(text), usd);
  assert.is(found.quantity, '24.5');
  assert.is(found.billed_quantity, '24.5');
  assert.equal(
    found.charges.map(({ quantity, amount }) => [quantity, amount]),
    [
      ['9', '18'],
      ['0.5', '1'],
      ['15', '30'],
    ],
  );
});

test('a minimum is billed where the quantity is below it', () => {
  costs(atLeast(flatFee('3'), '5'), 'usd', [
    ['0', '15', '15'],
    ['4.999999999999999', '15', '15'],
    ['5', '15', '15'],
    ['5.5', '16.5', '16.5'],
  ]);
  costs(atLeast(graduated(['2', '10'], [null, '1']), '4.5'), 'usd', [
    ['1', '22.5', '22.5'],
    ['6', '24', '24'],
  ]);
  costs(atLeast(packages('7', '10'), '11'), 'usd', [['10', '14', '14']]);
  const found = cost(atLeast(flatFee('3'), '5'), text('2'), usd);
  assert.is(found.quantity, '2');
  assert.is(found.billed_quantity, '5');
});

test('a price in a unit of its own is converted at its rate, and rounded after that', () => {
  costs(inUnit(flatFee('1'), 'credit', '0.05'), 'usd', [
    ['100', '5', '5'],
    ['0.1', '0.005', '0.01'],
    ['0.09', '0.0045', '0'],
    ['3', '0.15', '0.15'],
  ]);
  costs(inUnit(flatFee('0.000000000000001'), 'credit', '0.0000000001'), 'usd', [
    ['1', '0.0000000000000000000000001', '0'],
    ['50000000000000000000000', '0.005', '0.01'],
  ]);
  costs(inUnit(packages('3', '10'), 'credit', '0.333'), 'jpy', [['25', '2.997', '3']]);
  costs(inUnit(volume(['10', '2', '1'], [null, '1']), 'credit', '0.015'), 'kwd', [
    ['10', '0.315', '0.315'],
    ['11', '0.165', '0.165'],
    ['0.2', '0.021', '0.021'],
  ]);
  bucketsCost(inUnit(graduated(['10', '1'], [null, '2']), 'token', '0.125'), 'usd', [
    [['3', '12'], '2.125', '2.13'],
  ]);
});

test('the conversion shows the cost in the unit and the rate', () => {
  const found = cost(inUnit(flatFee('0.3'), 'credit', '0.05'), text('7'), usd);
  assert.equal(found.price_unit, { code: 'credit', amount: '2.1', conversion_rate: '0.05' });
  assert.is(cost(flatFee('1'), text('1'), usd).price_unit, null);
});

test('the rounding is what was added to the exact cost', () => {
  const roundings: [unitAmount: string, rounding: string][] = [
    ['0.005', '0.005'],
    ['0.004', '-0.004'],
    ['10.275', '0.005'],
    ['1.25', '0'],
  ];
  for (const [unitAmount, rounding] of roundings) {
    assert.is(cost(flatFee(unitAmount), text('1'), usd).rounding, rounding, unitAmount);
  }
});

test('lines that are rounded on their own add up to what is shown of them', () => {
  const line = cost(flatFee('10.333333'), text('1'), usd);
  assert.is(line.amount, '10.33', 'three of them make 30.99, and not 31.00');
  assert.is(cost(flatFee('10.333333'), text('3'), usd).amount, '31');
});

test('a charge per unit shows its factors', () => {
  assert.equal(cost(flatFee('0.1'), text('25'), usd).charges, [
    { model: 'flat_fee', quantity: '25', unit_amount: '0.1', amount: '2.5' },
  ]);
});

test('a charge by the package shows how many, and what they hold more or less', () => {
  const common = { model: 'package', quantity: '25', package_amount: '50', divide_by: '10' };
  assert.equal(cost(packages('50', '10'), text('25'), usd).charges, [
    { ...common, round: 'up', packages: '3', rounded_by: '5', amount: '150' },
  ]);
  assert.equal(cost(packages('50', '10', 'down'), text('25'), usd).charges, [
    { ...common, round: 'down', packages: '2', rounded_by: '-5', amount: '100' },
  ]);
});

test('a graduated charge shows every tier that is touched', () => {
  const terms = graduated(['5', '0', '1'], ['10', '1', '2'], ['20', '2'], [null, '3']);
  assert.equal(cost(terms, text('12.5'), usd).charges, [
    {
      model: 'graduated',
      quantity: '12.5',
      amount: '13',
      tiers: [
        tier(0, '0', '5', { quantity: '5', unit: '0', flat: '1', amount: '1' }),
        tier(1, '5', '10', { quantity: '5', unit: '1', flat: '2', amount: '7' }),
        tier(2, '10', '20', { quantity: '2.5', unit: '2', flat: '0', amount: '5' }),
      ],
    },
  ]);
});

test('a volume charge shows its one tier', () => {
  const terms = volume(['5', '0', '1'], ['10', '1', '2']);
  assert.equal(cost(terms, text('10.5'), usd).charges, [
    {
      model: 'volume',
      quantity: '10.5',
      amount: '12.5',
      tiers: [tier(1, '5', '10', { quantity: '10.5', unit: '1', flat: '2', amount: '12.5' })],
    },
  ]);
});

test('nothing touches no tier and fills no package', () => {
  const charges = [
    graduated([null, '1', '2']),
    volume([null, '1', '2']),
    packages('1', '10'),
  ].flatMap((terms) => cost(terms, text('0'), usd).charges);
  assert.equal(
    charges.map((charge) => ('tiers' in charge ? charge.tiers : charge.quantity)),
    [[], [], '0'],
  );
});

test('a quantity below zero has no cost', () => {
  for (const terms of [
    flatFee('1'),
    packages('1', '2'),
    volume([null, '1']),
    atLeast(flatFee('1'), '5'),
  ]) {
    assert.throws(() => cost(terms, text('-0.5'), usd), isBroken);
  }
  assert.throws(() => costOfBuckets(flatFee('1'), ['1', '-1'].map(text), usd), isBroken);
});

test('buckets of a price with a minimum quantity are refused', () => {
  assert.throws(() => costOfBuckets(atLeast(flatFee('1'), '5'), [text('1')], usd), isBroken);
});

const isBroken = (error: unknown): boolean => error instanceof BrokenInvariant;

interface TierFigures {
  readonly quantity: string;
  readonly unit: string;
  readonly flat: string;
  readonly amount: string;
}

function tier(place: number, above: string, upTo: string, figures: TierFigures) {
  const { quantity, unit, flat, amount } = figures;
  return {
    tier: place,
    above,
    up_to: upTo,
    quantity,
    unit_amount: unit,
    flat_amount: flat,
    amount,
  };
}

test.run();
