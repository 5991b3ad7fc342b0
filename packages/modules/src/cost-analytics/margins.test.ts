import { decimal } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Entry, marginsBy, marginsOf, planOf } from './margins.ts';

const test = suite('margins');

const entry = (revenue: string, cost: string, more: Partial<Entry> = {}): Entry => ({
  ...{ currency: 'usd', plan_id: null, meter_id: null },
  ...{ revenue: decimal(revenue), cost: decimal(cost) },
  ...more,
});

test('a margin is exact, and its ratios have six digits', () => {
  const entries = [entry('1', '0.000000000003'), entry('2', '1')];
  assert.equal(marginsOf(entries), [
    {
      ...{ currency: 'usd', revenue: '3', cost: '1.000000000003', margin: '1.999999999997' },
      ...{ margin_ratio: '0.666667', return_on_cost: '2' },
    },
  ]);
});

test('nothing is divided by nothing, and a loss is a loss', () => {
  assert.equal(
    [marginsOf([entry('0', '2')]), marginsOf([entry('5', '0')]), marginsOf([])].map((margins) =>
      margins.map((each) => [each.margin, each.margin_ratio, each.return_on_cost]),
    ),
    [[['-2', null, '-1']], [['5', '1', null]], []],
  );
});

test('currencies are never added, and groups come by their ids, those of none last', () => {
  const entries = [
    entry('1', '0', { plan_id: 'plan_b' }),
    entry('2', '0', { currency: 'eur' }),
    entry('3', '0', { plan_id: 'plan_a', currency: 'eur' }),
    entry('4', '1', { plan_id: 'plan_b' }),
  ];
  assert.equal(
    marginsOf(entries).map(({ currency, revenue }) => [currency, revenue]),
    [
      ['eur', '5'],
      ['usd', '5'],
    ],
  );
  assert.equal(
    marginsBy(entries, ({ plan_id }) => plan_id).map(([id, each]) => [id, each.margin]),
    [
      ['plan_a', '3'],
      ['plan_b', '4'],
      [null, '2'],
    ],
  );
});

test('usage is of the plan that billed its meter, else of the only one that billed anything', () => {
  const one = { plan_id: 'plan_a', meter_id: 'meter_1' };
  const two = { plan_id: 'plan_b', meter_id: null };
  assert.is(planOf([one, two], 'meter_1'), 'plan_a');
  assert.is(planOf([two], 'meter_1'), 'plan_b');
  assert.is(planOf([one, two], 'meter_2'), null);
  assert.is(planOf([one, { ...two, meter_id: 'meter_1' }], 'meter_1'), null);
  assert.is(planOf([], 'meter_1'), null);
});

test.run();
