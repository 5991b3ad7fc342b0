import type { DecimalText, Instant } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Aggregation } from '../../meters/index.ts';
import { accumulator } from './aggregate.ts';
import { matches, measureOf, type Properties } from './measure.ts';

const test = suite('aggregations');

const nothing = {
  field: null,
  expression: null,
  multiplier: null,
  bucket_size: null,
  group_by: null,
} as const;

/** The value over an hour, of events a minute apart, each in the bucket that it names. */
function valueFrom(
  aggregation: Partial<Aggregation> & Pick<Aggregation, 'type'>,
  events: readonly Properties[],
): DecimalText | null {
  const whole = { ...nothing, ...aggregation } as Aggregation;
  const measure = measureOf(whole);
  const span = {
    start: '2026-01-01T00:00:00.000Z' as Instant,
    end: '2026-01-01T01:00:00.000Z' as Instant,
  };
  const values = accumulator(whole, span);
  for (const [index, properties] of events.entries()) {
    const minute = String(index).padStart(2, '0');
    values.add({
      at: `2026-01-01T00:${minute}:00.000Z` as Instant,
      measured: measure(properties),
      bucket: String(properties.bucket ?? ''),
      group: String(properties.group ?? ''),
    });
  }
  return values.value();
}

const of = (...values: readonly unknown[]) => values.map((value) => ({ value }));
const field = 'value';

const examples: readonly [
  string,
  Partial<Aggregation> & Pick<Aggregation, 'type'>,
  readonly Properties[],
  string | null,
][] = [
  // The examples of E 4.1.
  ['COUNT 4 events', { type: 'COUNT' }, of(1, 2, 3, 4), '4'],
  ['AVG 10, 20, 30, 40', { type: 'AVG', field }, of(10, 20, 30, 40), '25'],
  ['MAX 5, 30, 12', { type: 'MAX', field }, of(5, 30, 12), '30'],
  ['LATEST 100, 200, 7', { type: 'LATEST', field }, of(100, 200, 7), '7'],
  [
    'SUM_WITH_MULTIPLIER',
    { type: 'SUM_WITH_MULTIPLIER', field, multiplier: '1.5' as DecimalText },
    of(100),
    '150',
  ],
  [
    'MAX in buckets',
    { type: 'MAX', field, bucket_size: 'MINUTE' },
    [...[2, 5, 6, 9].map((value) => ({ value, bucket: 1 })), { value: 10, bucket: 2 }],
    '19',
  ],
  [
    'MAX in buckets and groups',
    { type: 'MAX', field, bucket_size: 'MINUTE', group_by: 'group' },
    [
      { value: 2, bucket: 1, group: 'a' },
      { value: 5, bucket: 1, group: 'a' },
      { value: 3, bucket: 1, group: 'b' },
      { value: 4, bucket: 2, group: 'a' },
    ],
    '12',
  ],
  // Decimals, not doubles.
  ['SUM of tenths', { type: 'SUM', field }, of(0.1, 0.2), '0.3'],
  [
    'SUM of text',
    { type: 'SUM', field },
    of('0.000000000000001', '12345678901234567890'),
    '12345678901234567890.000000000000001',
  ],
  ['SUM with a correction', { type: 'SUM', field }, of(10, -4), '6'],
  ['AVG without an end', { type: 'AVG', field }, of(1, 1, 0), '0.666666666666667'],
  ['COUNT_UNIQUE as text', { type: 'COUNT_UNIQUE', field }, of(1, '1', 'a', true, 'true'), '3'],
  // Nothing at all (D56).
  ['COUNT of nothing', { type: 'COUNT' }, [], '0'],
  ['SUM of nothing', { type: 'SUM', field }, [], '0'],
  ['COUNT_UNIQUE of nothing', { type: 'COUNT_UNIQUE', field }, [], '0'],
  ['AVG of nothing', { type: 'AVG', field }, [], null],
  ['MAX of nothing', { type: 'MAX', field }, [], null],
  ['LATEST of nothing', { type: 'LATEST', field }, [], null],
  ['WEIGHTED_SUM of nothing', { type: 'WEIGHTED_SUM', field }, [], null],
  // Bad values count nowhere (D55).
  [
    'SUM beside bad values',
    { type: 'SUM', field },
    [...of(1, 'one', true, null, '1e3', ''), {}],
    '1',
  ],
  ['AVG beside bad values', { type: 'AVG', field }, [...of(1, 3, 'x'), {}], '2'],
  // Expressions (E 4.3).
  ['ceil(seconds / 60)', { type: 'SUM', expression: 'ceil(seconds / 60)' }, [{ seconds: 61 }], '2'],
  [
    'floor(min(a, b) * c)',
    { type: 'SUM', expression: 'floor(min(a, b) * c)' },
    [{ a: 5.7, b: 6, c: 1.5 }],
    '8',
  ],
  [
    'rounds up to quarters',
    { type: 'SUM', expression: 'duration <= 10 ? 0 : ceil(duration / 15) * 15' },
    [{ duration: 18 }, { duration: 10 }],
    '30',
  ],
  ['a missing property is 0', { type: 'SUM', expression: 'a + b' }, [{ a: 1 }, {}], '1'],
  [
    'a division by zero counts nowhere',
    { type: 'SUM', expression: 'a / b' },
    [{ a: 1 }, { a: 6, b: 4 }],
    '1.5',
  ],
  [
    'text that is no number counts nowhere',
    { type: 'SUM', expression: 'a' },
    [{ a: 'x' }, { a: '2' }],
    '2',
  ],
  [
    'halves away from zero',
    { type: 'SUM', expression: 'round(a)' },
    [{ a: -2.5 }, { a: 0.5 }],
    '-2',
  ],
  ['powers', { type: 'SUM', expression: 'pow(a, 3) + pow(a, -1)' }, [{ a: 2 }], '8.5'],
];

for (const [what, aggregation, events, expected] of examples) {
  test(what, () => assert.is(valueFrom(aggregation, events), expected));
}

test('WEIGHTED_SUM is the mean level, with the level before the window carried in', () => {
  const span = {
    start: '2026-01-01T00:00:00.000Z' as Instant,
    end: '2026-01-01T04:00:00.000Z' as Instant,
  };
  const measure = measureOf({ ...nothing, type: 'WEIGHTED_SUM', field });
  const level = accumulator({ ...nothing, type: 'WEIGHTED_SUM' }, span, measureNumber(2));
  const add = (at: string, value: number) =>
    level.add({ at: at as Instant, measured: measure({ value }), bucket: '', group: '' });
  add('2026-01-01T01:00:00.000Z', 4);
  add('2026-01-01T03:00:00.000Z', -6);
  // An hour at 2, two at 6, one at 0.
  assert.is(level.value(), '3.5');
});

const measureNumber = (value: number) => {
  const measured = measureOf({ ...nothing, type: 'SUM', field })({ value });
  if (measured.kind !== 'number') throw new Error('no number');
  return measured.value;
};

test('powers of powers come to an end', () => {
  const expression = 'pow(pow(pow(a, 64), 64), 64)';
  assert.is(valueFrom({ type: 'SUM', expression }, [{ a: 9 }, { a: 1 }]), '1');
});

test('filters: all keys, any value, as text; a missing property matches nothing', () => {
  const filters = [
    { key: 'model', values: ['large', 'small'] },
    { key: 'tier', values: ['1'] },
  ];
  assert.ok(matches(filters, { model: 'small', tier: 1 }));
  assert.not(matches(filters, { model: 'small', tier: 2 }));
  assert.not(matches(filters, { model: 'small' }));
  assert.ok(matches([], {}));
});

test.run();
