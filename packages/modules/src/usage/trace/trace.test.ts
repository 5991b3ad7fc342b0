import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Aggregation } from '../../meters/index.ts';
import { type CountingMeter, lookOf } from './trace.ts';

const test = suite('what a meter makes of an event');

const aggregation: Aggregation = {
  type: 'SUM',
  field: 'count',
  expression: null,
  multiplier: null,
  bucket_size: null,
  group_by: null,
};
const large = [{ key: 'model', values: ['large', 'huge'] }];
const of = (more: Partial<Aggregation>, filters: CountingMeter['filters'] = []): CountingMeter => ({
  aggregation: { ...aggregation, ...more },
  filters,
});

const cases: readonly [string, CountingMeter, object, object][] = [
  ['a sum its number', of({}), { count: '1.50' }, { counted: true, value: '1.5', quantity: '1.5' }],
  [
    'a count the event',
    of({ type: 'COUNT', field: null }),
    {},
    { counted: true, value: null, quantity: '1' },
  ],
  [
    'different values the text',
    of({ type: 'COUNT_UNIQUE' }),
    { count: 1 },
    { counted: true, value: '1', quantity: '1' },
  ],
  ['no missing number', of({}), {}, { counted: false, fault: 'bad_value', reason: 'has no count' }],
  [
    'no word',
    of({}),
    { count: 'two' },
    { counted: false, fault: 'bad_value', reason: 'count is no number' },
  ],
  [
    'what its filters match',
    of({}, large),
    { model: 'huge', count: 1 },
    { counted: true, value: '1', quantity: '1' },
  ],
  [
    'nothing that has not what they ask for',
    of({}, large),
    { count: 1 },
    { counted: false, fault: 'filtered', reason: 'has no model, which the meter filters by' },
  ],
  [
    'nothing that they do not name',
    of({}, large),
    { count: 1, model: 'small' },
    { counted: false, fault: 'filtered', reason: 'model is none that the meter counts' },
  ],
  [
    'nothing of a quotient by zero',
    of({ field: null, expression: 'a / b' }),
    { a: 1, b: 0 },
    { counted: false, fault: 'bad_value', reason: 'it divides by zero' },
  ],
];

for (const [name, meter, properties, look] of cases) {
  test(`counts ${name}`, () =>
    assert.equal(lookOf(meter, properties as Record<string, unknown>), look));
}

test.run();
