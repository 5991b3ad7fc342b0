import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { NamedMeter } from '../trace/meters.ts';
import { rejectionsOf } from './faults.ts';

const test = suite('what keeps usage from being counted');

const meter = (name: string, more: Partial<NamedMeter> = {}): NamedMeter => ({
  id: `meter_${name}` as NamedMeter['id'],
  name,
  event_name: 'tokens',
  filters: [],
  aggregation: {
    type: 'SUM',
    field: 'count',
    expression: null,
    multiplier: null,
    bucket_size: null,
    group_by: null,
  },
  ...more,
});

const event = {
  customer_id: 'cust_1',
  external_customer_id: 'acme',
  event_name: 'tokens',
  properties: { count: 1, model: 'large' },
};
const bad = { ...event, properties: { count: 'many', model: 'large' } };
const small = [{ key: 'model', values: ['small'] }];

const cases: readonly [
  string,
  typeof event | typeof bad,
  readonly NamedMeter[],
  readonly string[],
][] = [
  ['nothing, where a meter counts it', event, [meter('a')], []],
  ['a name that no meter counts', event, [meter('a', { event_name: 'calls' })], ['unknown_name']],
  ['a value that is none', bad, [meter('a'), meter('b')], ['bad_value a', 'bad_value b']],
  ['nothing, where a filter leaves it out', bad, [meter('a', { filters: small })], []],
];

for (const [name, given, meters, right] of cases) {
  test(`is ${name}`, () => {
    const seen = rejectionsOf(given, meters).map(({ reason, meter_id }) =>
      meter_id === undefined ? reason : `${reason} ${meter_id.slice('meter_'.length)}`,
    );
    assert.equal(seen, right);
  });
}

test('is an external id that nobody has, and all else beside it', () => {
  const seen = rejectionsOf({ ...event, customer_id: null as never }, []);
  assert.equal(
    seen.map(({ reason }) => reason),
    ['unknown_customer', 'unknown_name'],
  );
});

test.run();
