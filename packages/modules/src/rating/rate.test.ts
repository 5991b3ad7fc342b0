import { BrokenInvariant, type Currency } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { PriceTerms } from '../pricing/index.ts';
import { rate } from './rate.ts';
import type { RatingRequest, Usage, UsageLine } from './request.ts';
import {
  buckets,
  committing,
  fixedLine,
  flat,
  inUnit,
  limited,
  overTerm,
  packed,
  span,
  text,
  tiered,
  usageLine,
  windows,
} from './test-lines.ts';

const test = suite('rating');

const costs = (name: string, request: RatingRequest, amount: string, quantity?: string): void => {
  test(`${name}: ${amount}`, () => {
    const found = rate(request);
    assert.is(found.amount, amount);
    if (quantity !== undefined) assert.is(found.quantity, quantity);
  });
};

/** A price under quantities, written `quantity→amount`. */
const table = (name: string, terms: PriceTerms, rows: string, currency = 'usd'): void => {
  for (const row of rows.split(' ')) {
    const [quantity = '', amount = ''] = row.split('→');
    const line = usageLine(terms, windows(quantity), { currency: currency as Currency });
    costs(`${name}, ${quantity}`, line, amount, quantity);
    costs(`${name}, fixed, ${quantity}`, fixedLine(terms, quantity, currency as Currency), amount);
  }
};

const three = '10@50 20@40 ∞@30';
const flats = '5@0+1 10@1+2 ∞@2';
const half = tiered('graduated', '1@10 2@20 ∞@30');
const calls = tiered('graduated', '1000@0.02 5000@0.005 ∞@0.01');

table('E 1.1 one rounding, half away from zero', flat('1'), '10.275→10.28 0.005→0.01 0.004→0');
table('E 1.1 yen have no digits', flat('1'), '1000.5→1001', 'jpy');
table('E 2.2 flat', flat('100'), '5→500 0→0 2.5→250');
table('E 2.2 package', packed('50', '10'), '25→150 0→0');
table('E 2.2 packages of 100', packed('1', '100'), '2→1 99→1 100→1 101→2 150→2 300→3 0→0');
table('E 2.2 packages rounded down', packed('1', '100', 'down'), '50→0 250→2 100→1 99.999→0');
table('E 2.2 volume', tiered('volume', three), '5→250 15→600 25→750 10→500 10.001→400.04 0→0');
table('E 2.2 graduated', tiered('graduated', three), '15→700 25→1050 10→500 0→0');
table('E 2.2 flat amounts of tiers', tiered('graduated', flats), '3→1 7→5 12→12 0→0');
table('E 2.2 fractions', half, '2.5→45');
table('E 2.2 B a last tier with a bound goes on', tiered('graduated', '10@1 20@2'), '30→50');
table('E 3 a price unit', inUnit(flat('1'), '0.05'), '100→5 0.1→0.01 0.09→0');
table('E 6 storage', flat('0.1'), '300→30');
table('E 6 archive', flat('0.03'), '300→9');
table('E 6 calls', calls, '1500→22.5');

test('E 1.1 lines are rounded and then added', () => {
  const line = Number(rate(fixedLine(flat('10.333333'), '1')).amount);
  assert.is((line * 3).toFixed(2), '30.99');
});

test('E 2.4 a fixed price bills its minimum quantity', () => {
  const terms: PriceTerms = { ...flat('3'), minimum_quantity: text('5') };
  const found = rate(fixedLine(terms, '2'));
  assert.equal([found.quantity, found.amount], ['5', '15']);
});

const hours = (...values: string[]): Usage =>
  buckets('HOUR', 'UTC', ...values.map((value, hour) => `2026-01-01T0${hour}:00Z=${value}`));
const small = '10@0.1 20@0.05 ∞@0.02';

costs(
  'E 2.3 graduated buckets',
  usageLine(tiered('graduated', small), hours('9', '15')),
  '2.15',
  '24',
);
costs('E 2.3 volume buckets', usageLine(tiered('volume', small), hours('9', '15')), '1.65');
costs('E 2.3 packages of buckets', usageLine(packed('1', '10'), hours('9', '10')), '2');
costs('E 2.3 flat buckets', usageLine(flat('0.1'), hours('0', '5', '0')), '0.5');
costs(
  'E 2.3 groups of a bucket',
  usageLine(tiered('graduated', '10@1 ∞@2'), hours('3/krn1', '12/krn2')),
  '17',
  '15',
);
costs(
  'E 2.3 B an empty bucket has no flat fee',
  usageLine(tiered('graduated', '∞@1+5'), hours('0', '2')),
  '7',
);
costs(
  'a bucket below zero costs nothing, and takes nothing off the others',
  usageLine(flat('1'), hours('-3', '5')),
  '5',
  '5',
);

const call = tiered('graduated', '1000@0.02 ∞@0.01');
const allowed = (terms: PriceTerms, usage: Usage, allowance: UsageLine['allowance']) =>
  usageLine(terms, usage, { allowance });

costs(
  'E 8.4 an allowance above what was used',
  allowed(call, windows('500'), limited('1000')),
  '0',
  '0',
);
costs('E 8.4 an allowance', allowed(call, windows('500'), limited('100')), '8', '400');
costs('E 8.4 unlimited', allowed(call, windows('500'), limited(null)), '0', '0');
costs('E 8.4 no allowance', allowed(call, windows('500'), null), '10', '500');
costs('E 8.4 of nothing', allowed(call, windows('500'), limited('0')), '10', '500');
costs(
  'E 8.4 an allowance by the day',
  allowed(flat('0.02'), windows('15', '3', '12'), limited('10', 'DAILY')),
  '0.14',
  '7',
);
costs(
  'E 8.4 B an allowance that never starts over',
  allowed(flat('1'), windows('50..150'), limited('100', 'NEVER')),
  '50',
  '50',
);
costs(
  'E 8.4 B what is left of a year',
  allowed(flat('1'), windows('30..90'), limited('100', 'ANNUAL')),
  '0',
);
costs(
  'E 8.4 B a year that is used up',
  allowed(flat('1'), windows('130..190'), limited('100', 'ANNUAL')),
  '60',
);
costs(
  'E 8.4 tiers begin after the allowance',
  allowed(call, windows('1300'), limited('100')),
  '22',
  '1200',
);
costs(
  'E 8.4 what an allowance leaves of buckets is one quantity',
  allowed(tiered('graduated', small), windows('24'), limited('9')),
  '1.25',
  '15',
);
costs(
  'a correction gives back what was above the allowance',
  allowed(flat('1'), windows('150..120', '30'), limited('10', 'WEEKLY')),
  '0',
  '0',
);
costs('what corrections take off beyond zero', usageLine(flat('1'), windows('-5')), '0', '0');

costs('E 31 January, gross', usageLine(call, windows('1300')), '23');
costs('E 31 January, net', allowed(call, windows('1300'), limited('100')), '22', '1200');
costs('E 31 to February 22', allowed(call, windows('600'), limited('100')), '10', '500');

const committed = (used: string, commitment: UsageLine['commitment'], terms = flat('1')) =>
  usageLine(terms, windows(used), { commitment });

costs('E 14.1 above', committed('15', overTerm(committing('10', '1.5'))), '17.5', '15');
costs('E 14.1 trued up', committed('3', overTerm(committing('5', '2', true))), '5');
costs('E 14.1 below', committed('3', overTerm(committing('5', '2'))), '3');
costs('E 14.1 exactly', committed('5', overTerm(committing('5', '2', true))), '5');
costs(
  'E 14.1 a quantity, at its price',
  committed('25', overTerm(committing('15 units', '2')), tiered('graduated', three)),
  '1400',
);
costs('E 14.3 B a later period', committed('12', overTerm(committing('60', '2'), '50')), '14');
costs('E 14.3 B a used-up term', committed('12', overTerm(committing('60', '2'), '70')), '24');
costs(
  'E 14.3 B true-up waits for the end of the term',
  committed('12', overTerm(committing('60', '2', true), '20', false)),
  '12',
);
costs(
  'E 14.3 B true-up at the end of the term',
  committed('12', overTerm(committing('60', '2', true), '20')),
  '40',
);
costs(
  'a commitment is split before anything is rounded',
  committed('1.004', overTerm(committing('1', '1.5'))),
  '1.01',
);

test('E 14.1 the split says how a commitment was used', () => {
  const { charge } = rate(committed('15', overTerm(committing('10', '1.5')))).explanation;
  assert.ok(charge.kind === 'committed');
  assert.equal(charge.commitment, {
    committed: '10',
    prior: '0',
    used: '15',
    utilized: '10',
    overage_base: '5',
    overage_factor: '1.5',
    overage: '7.5',
    true_up: '0',
    amount: '17.5',
  });
});

const twice = (usage: Usage): Usage =>
  usage.kind === 'windows'
    ? { ...usage, windows: [...usage.windows, ...usage.windows] }
    : { ...usage, buckets: [...usage.buckets, ...usage.buckets] };

test('what does not go together, or is there twice, is refused', () => {
  const term = overTerm(committing('10', '0.9'));
  const windowed = { kind: 'windowed', terms: null, slots: [], as_of: '' } as const;
  for (const line of [
    committed('1', term),
    committed('1', windowed as unknown as UsageLine['commitment']),
    allowed(flat('1'), hours('1'), limited('1')),
    fixedLine(flat('1'), '-1'),
    usageLine(flat('1'), hours('1', '2'), { period: span('2025-12-01', '2026-01-01') }),
    usageLine(flat('1'), windows('1'), { period: span('2025-12-01', '2026-01-01') }),
    usageLine(flat('1'), windows('1..2'), { period: span('2025-12-01', '2026-01-01') }),
    usageLine(flat('1'), twice(windows('1'))),
    usageLine(flat('1'), twice(hours('1'))),
  ]) {
    assert.throws(
      () => rate(line),
      (error: unknown) => error instanceof BrokenInvariant,
    );
  }
});

test('the explanation holds every step', () => {
  const line = usageLine(call, windows('100..1400.5'), {
    allowance: limited('300', 'QUARTERLY'),
    commitment: overTerm(committing('20', '1.5')),
  });
  const { explanation } = rate(line);
  assert.ok(explanation.kind === 'usage' && explanation.charge.kind === 'committed');
  assert.is(explanation.rules, 1);
  const { quantity, charge, total } = explanation;
  const { metered_by, allowance, ...figures } = quantity;
  assert.equal(metered_by, {
    meter_id: 'meter_1',
    aggregation: 'SUM',
    events: 3,
    position: '4711',
  });
  assert.equal(figures, { measured: '1300.5', taken: '200', below_zero: '0', billable: '1100.5' });
  const [window] = allowance?.windows ?? [];
  assert.equal(
    [window?.above_before, window?.above_through, window?.billable],
    ['0', '1100.5', '1100.5'],
  );
  const [priced] = charge.cost.charges;
  assert.ok(priced?.model === 'graduated');
  assert.equal(
    priced.tiers.map((tier) => [tier.quantity, tier.unit_amount, tier.amount]),
    [
      ['1000', '0.02', '20'],
      ['100.5', '0.01', '1.005'],
    ],
  );
  assert.equal([charge.commitment.utilized, charge.commitment.overage], ['20', '1.5075']);
  assert.equal(total, { unrounded_amount: '21.5075', amount: '21.51', rounding: '0.0025' });
});

test.run();
