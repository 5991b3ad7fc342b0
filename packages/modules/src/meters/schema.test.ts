import { pointersOf } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createMeterSchema, updateMeterSchema } from './schema.ts';

const test = suite('meter schemas');

const meterOf = (aggregation: object, rest: object = {}) => ({
  name: 'Tokens',
  event_name: 'completion',
  aggregation,
  ...rest,
});
const sum = { type: 'SUM', field: 'tokens' };
const faultsOf = (aggregation: object) => pointersOf(createMeterSchema, meterOf(aggregation));

const taken: readonly object[] = [
  { type: 'COUNT' },
  { type: 'COUNT', field: '', expression: null, multiplier: null, bucket_size: null, group_by: '' },
  sum,
  { type: 'SUM', expression: 'a * b' },
  { ...sum, bucket_size: '15MIN' },
  { type: 'AVG', field: 'a' },
  { type: 'AVG', expression: 'a' },
  { type: 'LATEST', field: 'a' },
  { type: 'LATEST', expression: 'a' },
  { type: 'MAX', field: 'a' },
  { type: 'MAX', expression: 'a', bucket_size: 'MONTH', group_by: 'region' },
  { type: 'COUNT_UNIQUE', field: 'a' },
  { type: 'WEIGHTED_SUM', field: 'a' },
  { type: 'SUM_WITH_MULTIPLIER', field: 'a', multiplier: '0.000000000000001' },
];

for (const aggregation of taken) {
  test(`takes ${JSON.stringify(aggregation)}`, () => assert.equal(faultsOf(aggregation), []));
}

const refused: readonly [object, string][] = [
  [{}, 'type'],
  [{ type: 'MEDIAN', field: 'a' }, 'type'],
  [{ type: 'COUNT', field: 'a' }, 'field'],
  [{ type: 'COUNT', expression: 'a' }, 'expression'],
  [{ type: 'SUM' }, 'field'],
  [{ ...sum, expression: 'a' }, 'expression'],
  [{ type: 'SUM', expression: 'a %' }, 'expression'],
  [{ ...sum, multiplier: '2' }, 'multiplier'],
  [{ ...sum, group_by: 'region' }, 'group_by'],
  [{ ...sum, bucket_size: '10MIN' }, 'bucket_size'],
  [{ type: 'AVG', field: 'a', bucket_size: 'DAY' }, 'bucket_size'],
  [{ type: 'LATEST', field: 'a', bucket_size: 'DAY' }, 'bucket_size'],
  [{ type: 'COUNT', bucket_size: 'DAY' }, 'bucket_size'],
  [{ type: 'MAX', field: 'a', group_by: 'region' }, 'bucket_size'],
  [{ type: 'COUNT_UNIQUE' }, 'field'],
  [{ type: 'COUNT_UNIQUE', field: 'a', expression: 'a' }, 'expression'],
  [{ type: 'COUNT_UNIQUE', expression: 'a' }, 'expression'],
  [{ type: 'WEIGHTED_SUM', expression: 'a' }, 'expression'],
  [{ type: 'WEIGHTED_SUM', field: 'a', expression: 'b' }, 'expression'],
  [{ type: 'SUM_WITH_MULTIPLIER', field: 'a' }, 'multiplier'],
  [{ type: 'SUM_WITH_MULTIPLIER', field: 'a', multiplier: '0' }, 'multiplier'],
  [{ type: 'SUM_WITH_MULTIPLIER', field: 'a', multiplier: '0.0000000000000001' }, 'multiplier'],
  [{ type: 'SUM', field: 'x'.repeat(256) }, 'field'],
  [{ type: 'SUM', expression: `a${' '.repeat(1024)}` }, 'expression'],
];

for (const [aggregation, member] of refused) {
  test(`refuses ${JSON.stringify(aggregation).slice(0, 80)}`, () =>
    assert.ok(faultsOf(aggregation).includes(`/aggregation/${member}`)));
}

test('what an aggregation does not have is null, and its defaults are those of the specification', () => {
  const read = createMeterSchema.parse(meterOf({ type: 'COUNT', field: '' }));
  assert.equal(read, {
    name: 'Tokens',
    event_name: 'completion',
    aggregation: {
      type: 'COUNT',
      field: null,
      expression: null,
      multiplier: null,
      bucket_size: null,
      group_by: null,
    },
    filters: [],
    reset_usage: 'BILLING_PERIOD',
  });
});

test('filters have each key once, with at least one value', () => {
  const faults = (filters: unknown) => pointersOf(updateMeterSchema, { filters });
  assert.equal(faults([{ key: 'model', values: ['a', 'b'] }]), []);
  assert.equal(faults([{ key: 'model', values: [] }]), ['/filters/0/values']);
  assert.equal(faults([{ key: '', values: ['a'] }]), ['/filters/0/key']);
  assert.equal(
    faults([
      { key: 'model', values: ['a'] },
      { key: 'model', values: ['b'] },
    ]),
    ['/filters/1/key'],
  );
});

test.run();
