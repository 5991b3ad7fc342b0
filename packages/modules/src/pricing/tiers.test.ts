import { Problem } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type TierFields, tiersOf, validateTiers } from './tiers.ts';

const test = suite('tiers');

const upTo = (...bounds: (number | null)[]): TierFields[] =>
  bounds.map((up_to) => ({ up_to, unit_amount: '1' }));

/** The places that are found wrong in tiers. */
function wrongPlaces(tiers: readonly TierFields[]): readonly string[] {
  try {
    validateTiers(tiers, '/tiers');
    return [];
  } catch (error) {
    assert.instance(error, Problem);
    const { code, errors } = error as Problem;
    assert.is(code, 'validation_error');
    return errors?.map(({ pointer }) => pointer) ?? [];
  }
}

test('bounds ascend; the last tier is open or has one too', () => {
  const good: (number | null)[][] = [
    [null],
    [1],
    [10, 20, null],
    [10, 20],
    [1, 2, 3, 4, 5],
    [1, Number.MAX_SAFE_INTEGER],
  ];
  for (const bounds of good) assert.equal(wrongPlaces(upTo(...bounds)), [], bounds.join());
});

test('bounds that do not ascend are refused where they stand', () => {
  const bad: [(number | null)[], string[]][] = [
    [[], ['']],
    [[10, 10], ['/1/up_to']],
    [[20, 10, null], ['/1/up_to']],
    [[20, 10, 15], ['/1/up_to']],
    [[null, null], ['/0/up_to']],
    [[10, null, 20], ['/1/up_to']],
    [[null, 10], ['/0/up_to']],
    [[0, null], ['/0/up_to']],
    [[-1], ['/0/up_to']],
    [[1.5, null], ['/0/up_to']],
    [[Number.NaN, null], ['/0/up_to']],
    [[Number.POSITIVE_INFINITY], ['/0/up_to']],
    [[2 ** 53], ['/0/up_to']],
    [
      [5, 4, 3],
      ['/1/up_to', '/2/up_to'],
    ],
  ];
  for (const [bounds, places] of bad) {
    assert.equal(
      wrongPlaces(upTo(...bounds)),
      places.map((place) => `/tiers${place}`),
      bounds.join(),
    );
  }
});

test('an absent bound is an open one', () => {
  assert.equal(wrongPlaces([{ up_to: 10, unit_amount: '1' }, { unit_amount: '1' }]), []);
  assert.equal(wrongPlaces([{ unit_amount: '1' }, { unit_amount: '1' }]), ['/tiers/0/up_to']);
});

test('amounts are not negative; zero is one', () => {
  assert.equal(wrongPlaces([{ unit_amount: '0', flat_amount: '0' }]), []);
  assert.equal(
    wrongPlaces([
      { up_to: 5, unit_amount: '-0.000001', flat_amount: '-1' },
      { unit_amount: '1', flat_amount: '-0.5' },
    ]),
    ['/tiers/0/unit_amount', '/tiers/0/flat_amount', '/tiers/1/flat_amount'],
  );
});

test('a hundred tiers are enough', () => {
  const bounds = Array.from({ length: 101 }, (_, index) => index + 1);
  assert.equal(wrongPlaces(upTo(...bounds.slice(0, 100))), []);
  assert.equal(wrongPlaces(upTo(...bounds)), ['/tiers']);
});

test('a message says what is wrong and how much more', () => {
  assert.throws(
    () => validateTiers(upTo(5, 4, 3), '/items/0/tiers'),
    /^items\/0\/tiers\/1\/up_to: must be greater than 5, the bound of the tier before \(and 1 more, see errors\)$/,
  );
});

test('tiers are read in canonical form', () => {
  const read = tiersOf([
    { up_to: 1_000_000, unit_amount: '0.10', flat_amount: null },
    { up_to: null, unit_amount: '1', flat_amount: '2.0' },
  ]);
  assert.equal(read, [
    { up_to: '1000000', unit_amount: '0.1', flat_amount: '0' },
    { up_to: null, unit_amount: '1', flat_amount: '2' },
  ]);
});

test.run();
