import { BrokenInvariant, Problem } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  creationPointers,
  type PriceFields,
  priceTermsOf,
  repricingPointers,
} from './price-fields.ts';
import { inCurrency, tiersInCurrency } from './price-unit.ts';

const test = suite('price fields');

const usage = { type: 'USAGE', price_unit_type: 'FIAT', transform_quantity: {} } as const;
const noUnit = { minimum_quantity: '0', price_unit: null };
const tiers = [
  { up_to: 10, unit_amount: '0.50' },
  { unit_amount: '0.4', flat_amount: '1' },
];
const readTiers = [
  { up_to: '10', unit_amount: '0.5', flat_amount: '0' },
  { up_to: null, unit_amount: '0.4', flat_amount: '1' },
];

test('every billing model has its terms', () => {
  assert.equal(priceTermsOf({ ...usage, billing_model: 'FLAT_FEE', amount: '10.50' }), {
    ...noUnit,
    model: 'flat_fee',
    unit_amount: '10.5',
  });
  const package_ = { ...usage, billing_model: 'PACKAGE', amount: '1' } as const;
  const terms = { ...noUnit, model: 'package', package_amount: '1', divide_by: '100' };
  assert.equal(priceTermsOf({ ...package_, transform_quantity: { divide_by: 100 } }), {
    ...terms,
    round: 'up',
  });
  assert.equal(
    priceTermsOf({ ...package_, transform_quantity: { divide_by: 100, round: 'down' } }),
    { ...terms, round: 'down' },
  );
  const tiered = { ...usage, billing_model: 'TIERED', tiers } as const;
  assert.equal(priceTermsOf({ ...tiered, tier_mode: 'VOLUME' }), {
    ...noUnit,
    model: 'volume',
    tiers: readTiers,
  });
  assert.equal(priceTermsOf({ ...tiered, tier_mode: 'SLAB' }), {
    ...noUnit,
    model: 'graduated',
    tiers: readTiers,
  });
});

test('a record with nulls says the same as a request without', () => {
  const record: PriceFields = {
    type: 'FIXED',
    billing_model: 'FLAT_FEE',
    amount: '0',
    tier_mode: null,
    tiers: null,
    transform_quantity: null,
    min_quantity: null,
    price_unit_type: null,
    price_unit: null,
    price_unit_amount: null,
    price_unit_tiers: null,
    conversion_rate: null,
  };
  assert.equal(priceTermsOf(record), { ...noUnit, model: 'flat_fee', unit_amount: '0' });
});

test('a price in a unit of its own: its amounts, and the rate it was set with', () => {
  const custom = {
    ...usage,
    price_unit_type: 'CUSTOM',
    price_unit: 'credit',
    conversion_rate: '0.050',
  } as const;
  const price_unit = { code: 'credit', conversion_rate: '0.05' };
  assert.equal(
    priceTermsOf({ ...custom, billing_model: 'FLAT_FEE', amount: '5', price_unit_amount: '100' }),
    { minimum_quantity: '0', price_unit, model: 'flat_fee', unit_amount: '100' },
  );
  assert.equal(
    priceTermsOf({
      ...custom,
      billing_model: 'TIERED',
      tier_mode: 'SLAB',
      price_unit_tiers: tiers,
    }),
    { minimum_quantity: '0', price_unit, model: 'graduated', tiers: readTiers },
  );
});

test('a unit without its code or without a rate is a fault of the program', () => {
  const custom = {
    ...usage,
    billing_model: 'FLAT_FEE',
    price_unit_type: 'CUSTOM',
    price_unit_amount: '1',
  } as const;
  for (const unit of [
    { price_unit: 'credit' },
    { conversion_rate: '1' },
    { price_unit: 'credit', conversion_rate: '0' },
  ]) {
    assert.throws(
      () => priceTermsOf({ ...custom, ...unit }),
      (error: unknown) => error instanceof BrokenInvariant,
    );
  }
});

test('a minimum quantity belongs to FIXED prices', () => {
  const fixed = { type: 'FIXED', billing_model: 'FLAT_FEE', amount: '1' } as const;
  assert.is(priceTermsOf({ ...fixed, min_quantity: '2.50' }).minimum_quantity, '2.5');
  assert.is(priceTermsOf({ ...fixed, min_quantity: '0' }).minimum_quantity, '0');
  assert.is(priceTermsOf({ ...fixed, type: 'USAGE', min_quantity: '0.0' }).minimum_quantity, '0');
  refuses({ ...fixed, min_quantity: '-1' }, '/min_quantity');
  refuses({ ...fixed, type: 'USAGE', min_quantity: '1' }, '/min_quantity');
});

test('what a billing model needs is asked for at its place', () => {
  const custom = { price_unit_type: 'CUSTOM', price_unit: 'c', conversion_rate: '1' } as const;
  const cases: [Partial<PriceFields>, string][] = [
    [{ billing_model: 'FLAT_FEE' }, '/amount'],
    [{ billing_model: 'FLAT_FEE', amount: '-0.01' }, '/amount'],
    [{ billing_model: 'PACKAGE', transform_quantity: { divide_by: 1 } }, '/amount'],
    [{ billing_model: 'PACKAGE', amount: '1' }, '/transform_quantity/divide_by'],
    [packageOf(0), '/transform_quantity/divide_by'],
    [packageOf(-5), '/transform_quantity/divide_by'],
    [packageOf(2.5), '/transform_quantity/divide_by'],
    [packageOf(2 ** 53), '/transform_quantity/divide_by'],
    [{ billing_model: 'TIERED', tiers }, '/tier_mode'],
    [{ billing_model: 'TIERED', tier_mode: 'SLAB' }, '/tiers'],
    [{ billing_model: 'TIERED', tier_mode: 'SLAB', tiers: [] }, '/tiers'],
    [{ ...custom, billing_model: 'FLAT_FEE', amount: '1' }, '/price_unit_config/amount'],
    [
      { ...custom, billing_model: 'TIERED', tier_mode: 'VOLUME', tiers },
      '/price_unit_config/price_unit_tiers',
    ],
  ];
  for (const [fields, pointer] of cases) {
    refuses({ type: 'USAGE', billing_model: 'FLAT_FEE', ...fields }, pointer);
  }
});

test('the pointers lead into items of bulk requests and into requests that change a price', () => {
  const missing = { ...usage, billing_model: 'FLAT_FEE' } as const;
  const negative = {
    ...missing,
    price_unit_type: 'CUSTOM',
    price_unit: 'c',
    conversion_rate: '1',
  } as const;
  refuses(missing, '/items/3/amount', creationPointers('/items/3'));
  refuses(
    { ...usage, billing_model: 'TIERED', tiers },
    '/items/3/tier_mode',
    creationPointers('/items/3'),
  );
  refuses({ ...negative, price_unit_amount: '-1' }, '/price_unit_amount', repricingPointers);
});

test('an amount in a unit is worth itself times the rate, exactly', () => {
  assert.is(inCurrency('100', '0.05'), '5');
  assert.is(inCurrency('0.000000000000001', '0.0000000001'), '0.0000000000000000000000001');
  assert.equal(
    tiersInCurrency(
      [{ up_to: 10, unit_amount: '3', flat_amount: '1' }, { unit_amount: '0.5' }],
      '0.15',
    ),
    [{ up_to: 10, unit_amount: '0.45', flat_amount: '0.15' }, { unit_amount: '0.075' }],
  );
});

function packageOf(divide_by: number): Partial<PriceFields> {
  return { billing_model: 'PACKAGE', amount: '1', transform_quantity: { divide_by } };
}

function refuses(fields: PriceFields, pointer: string, pointers = creationPointers()): void {
  assert.throws(
    () => priceTermsOf(fields, pointers),
    (error: unknown) => {
      assert.instance(error, Problem);
      assert.equal(
        (error as Problem).errors?.map((each) => each.pointer),
        [pointer],
      );
      assert.is((error as Problem).code, 'validation_error');
      return true;
    },
  );
}

test.run();
