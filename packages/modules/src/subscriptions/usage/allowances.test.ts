import type { DecimalText } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type FeatureAllowance, mostGenerous } from './allowances.ts';

const test = suite('allowances of one meter');

type Said = readonly [limit: number | null, resets: FeatureAllowance['resets']];

const of = (feature_id: string, [limit, resets]: Said): FeatureAllowance => ({
  feature_id,
  limit: limit === null ? null : (String(limit) as DecimalText),
  resets,
});

/** The first of two is the more generous under a subscription of months. */
const examples: readonly [Said, Said][] = [
  [
    [null, 'NEVER'],
    [1_000_000, 'DAILY'],
  ],
  [
    [100, null],
    [50, null],
  ],
  [
    [10, 'DAILY'],
    [200, 'MONTHLY'],
  ],
  [
    [200, 'MONTHLY'],
    [6, 'DAILY'],
  ],
  [
    [100, null],
    [1000, 'ANNUAL'],
  ],
  [
    [1, 'ANNUAL'],
    [1_000_000, 'NEVER'],
  ],
  [
    [2, 'NEVER'],
    [1, 'NEVER'],
  ],
  [
    [0, 'DAILY'],
    [0, 'NEVER'],
  ],
];

for (const [more, less] of examples) {
  test(`${more.join(' ')} holds before ${less.join(' ')}, in any order`, () => {
    const cycle = { unit: 'MONTHLY', count: 1 } as const;
    const [best, other] = [of('feat_b', more), of('feat_a', less)];
    assert.equal(mostGenerous([best, other], cycle), best);
    assert.equal(mostGenerous([other, best], cycle), best);
  });
}

test('with the billing period means as long as that, and among equals the first feature holds', () => {
  const cycle = { unit: 'MONTHLY', count: 3 } as const;
  const [own, month] = [of('feat_a', [100, null]), of('feat_b', [50, 'MONTHLY'])];
  assert.equal(mostGenerous([own, month], cycle), month);
  const same = of('feat_c', [50, 'MONTHLY']);
  assert.equal(mostGenerous([same, month], cycle), month);
  assert.is(mostGenerous([], cycle), null);
});

test.run();
