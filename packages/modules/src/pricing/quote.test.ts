import { type Currency, Problem } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { quoteOf } from './quote.ts';
import { maximumQuotedBuckets, quoteBodySchema, quoteSchema } from './schema.ts';
import type { PriceTerms } from './terms.ts';
import { atLeast, flatFee, graduated, inUnit, packages, text, volume } from './test-terms.ts';

const test = suite('quote');
const usd = 'usd' as Currency;

/** A quote as it leaves, held against its schema, which drops and changes nothing. */
function quote(terms: PriceTerms, asked: unknown, currency = usd) {
  const found = quoteOf(terms, quoteBodySchema.parse(asked), currency);
  assert.equal(quoteSchema.parse(found), found);
  return found;
}

test('a flat fee', () => {
  assert.equal(quote(flatFee('0.1'), { quantity: 102.75 }), {
    currency: 'usd',
    quantity: '102.75',
    billed_quantity: '102.75',
    amount: '10.28',
    display_amount: '$10.28',
    unrounded_amount: '10.275',
    rounding: '0.005',
    effective_unit_amount: '0.1',
    charges: [
      {
        billing_model: 'FLAT_FEE',
        quantity: '102.75',
        unit_amount: '0.1',
        amount: '10.275',
        explanation: ['102.75 × $0.1 = $10.275'],
      },
    ],
    explanation: [
      '102.75 × $0.1 = $10.275',
      'total $10.275, rounded half away from zero at 2 digits: $10.28',
    ],
  });
});

test('packages', () => {
  const { charges, explanation } = quote(packages('50', '10'), { quantity: '25' });
  assert.equal(charges, [
    {
      billing_model: 'PACKAGE',
      quantity: '25',
      package_amount: '50',
      transform_quantity: { divide_by: '10', round: 'up' },
      packages: '3',
      rounded_by: '5',
      amount: '150',
      explanation: ['25 in packages of 10, rounded up: 3 × $50 = $150'],
    },
  ]);
  assert.equal(explanation, ['25 in packages of 10, rounded up: 3 × $50 = $150', 'total $150.00']);
  const words = (terms: PriceTerms, quantity: string) => quote(terms, { quantity }).explanation[0];
  assert.is(
    words(packages('5', '10', 'down'), '25'),
    '25 in packages of 10, rounded down: 2 × $5 = $10',
  );
  assert.is(words(packages('5', '10'), '20'), '20 in packages of 10: 2 × $5 = $10');
});

test('graduated tiers', () => {
  const found = quote(graduated(['5', '0', '1'], ['10', '1', '2'], [null, '2']), {
    quantity: '12',
  });
  assert.equal(found.charges[0], {
    billing_model: 'TIERED',
    tier_mode: 'SLAB',
    quantity: '12',
    amount: '12',
    tiers: [
      {
        tier: 0,
        above: '0',
        up_to: '5',
        quantity: '5',
        unit_amount: '0',
        flat_amount: '1',
        amount: '1',
      },
      {
        tier: 1,
        above: '5',
        up_to: '10',
        quantity: '5',
        unit_amount: '1',
        flat_amount: '2',
        amount: '7',
      },
      { tier: 2, above: '10', quantity: '2', unit_amount: '2', flat_amount: '0', amount: '4' },
    ],
    explanation: found.charges[0]?.explanation,
  });
  assert.equal(found.explanation, [
    'up to 5: 5 × $0 + $1 flat = $1',
    'above 5 up to 10: 5 × $1 + $2 flat = $7',
    'above 10: 2 × $2 = $4',
    '$1 + $7 + $4 = $12',
    'total $12.00',
  ]);
});

test('volume tiers', () => {
  const terms = volume(['10', '50'], ['20', '40', '3']);
  const words = (quantity: string) => quote(terms, { quantity }).explanation[0];
  assert.is(words('10'), 'all in the tier up to 10: 10 × $50 = $500');
  assert.is(words('15'), 'all in the tier above 10 up to 20: 15 × $40 + $3 flat = $603');
  assert.is(words('20'), 'all in the tier above 10 up to 20: 20 × $40 + $3 flat = $803');
  assert.is(
    words('21'),
    'all in the tier above 10 up to 20 and beyond, at the same rate: 21 × $40 + $3 flat = $843',
  );
  const [charge] = quote(terms, { quantity: '1' }).charges;
  assert.is(charge?.billing_model === 'TIERED' && charge.tier_mode, 'VOLUME');
});

test('words for a last tier with a bound and for an only tier', () => {
  const words = (terms: PriceTerms, quantity: string) => quote(terms, { quantity }).explanation;
  const limited = graduated(['10', '1'], ['20', '0.5']);
  assert.is(words(limited, '20')[1], 'above 10 up to 20: 10 × $0.5 = $5');
  assert.is(
    words(limited, '21')[1],
    'above 10 up to 20 and beyond, at the same rate: 11 × $0.5 = $5.5',
  );
  assert.is(words(graduated([null, '2']), '3')[0], 'any quantity: 3 × $2 = $6');
  assert.is(words(volume([null, '2']), '3')[0], 'all in the only tier: 3 × $2 = $6');
});

test('a price in a unit of its own', () => {
  const found = quote(inUnit(flatFee('0.3'), 'credit', '0.05'), { quantity: '7' });
  assert.equal(found.price_unit, { code: 'credit', amount: '2.1', conversion_rate: '0.05' });
  assert.is(found.effective_unit_amount, '0.015');
  assert.equal(found.explanation, [
    '7 × 0.3 credit = 2.1 credit',
    '2.1 credit × $0.05 = $0.105',
    'total $0.105, rounded half away from zero at 2 digits: $0.11',
  ]);
});

test('a minimum quantity', () => {
  const found = quote(atLeast(flatFee('3'), '5'), { quantity: '2' });
  assert.equal([found.quantity, found.billed_quantity, found.amount], ['2', '5', '15']);
  assert.is(found.effective_unit_amount, '3');
  assert.equal(found.explanation, [
    '2 is below the minimum quantity: 5 is billed',
    '5 × $3 = $15',
    'total $15.00',
  ]);
});

test('buckets', () => {
  const terms = graduated(['10', '0.1'], [null, '0.05']);
  const found = quote(terms, { quantities: ['9', 15, '0'] });
  assert.equal([found.quantity, found.amount, found.charges.length], ['24', '2.15', 3]);
  assert.equal(found.explanation, [
    'bucket 1: up to 10: 9 × $0.1 = $0.9',
    'bucket 2: up to 10: 10 × $0.1 = $1',
    'bucket 2: above 10: 5 × $0.05 = $0.25',
    'bucket 2: $1 + $0.25 = $1.25',
    'bucket 3: 0 costs $0',
    '3 buckets cost $2.15 together',
    'total $2.15',
  ]);
});

test('nothing costs nothing and has no amount for each', () => {
  const found = quote(flatFee('3'), { quantity: 0 });
  assert.equal([found.amount, found.display_amount], ['0', '$0.00']);
  assert.not('effective_unit_amount' in found);
  assert.equal(found.explanation, ['0 costs $0', 'total $0.00']);
});

test('what one cost on average is rounded at 15 digits', () => {
  const found = quote(packages('1', '10'), { quantity: '3' });
  assert.is(found.effective_unit_amount, '0.333333333333333');
});

test('a request has either a quantity or quantities', () => {
  const many = Array.from({ length: maximumQuotedBuckets + 1 }, () => '1');
  const bad: [asked: unknown, path: string][] = [
    [{}, 'quantity'],
    [{ quantity: '1', quantities: ['1'] }, 'quantities'],
    [{ quantity: '-1' }, 'quantity'],
    [{ quantity: '1.0000000000000001' }, 'quantity'],
    [{ quantity: 'a' }, 'quantity'],
    [{ quantities: [] }, 'quantities'],
    [{ quantities: ['1', '-1'] }, 'quantities/1'],
    [{ quantities: many }, 'quantities'],
  ];
  for (const [asked, path] of bad) {
    const issues = quoteBodySchema.safeParse(asked).error?.issues ?? [];
    assert.equal(
      issues.map((issue) => issue.path.join('/')),
      [path],
      JSON.stringify(asked),
    );
  }
  assert.ok(quoteBodySchema.safeParse({ quantities: many.slice(1) }).success);
});

test('buckets of a price with a minimum quantity are refused', () => {
  assert.throws(
    () => quoteOf(atLeast(flatFee('1'), '2'), { quantities: [text('1')] }, usd),
    (error: unknown) => error instanceof Problem && error.errors?.[0]?.pointer === '/quantities',
  );
});

test.run();
