import type { MeterId } from '@counterfoil/kernel';
import { folded, given, stampAt } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  createMeter,
  deleteMeter,
  disableMeter,
  type MeterEvent,
  meter,
  meterView,
  replaceFilters,
} from './meter.ts';
import { createMeterSchema, meterSchema } from './schema.ts';

const test = suite('meter');

const id = 'meter_01' as MeterId;
const request = createMeterSchema.parse({
  name: 'Tokens',
  event_name: 'completion',
  aggregation: { type: 'SUM', field: 'tokens' },
  filters: [{ key: 'model', values: ['small'] }],
});
const created: MeterEvent = { type: 'MeterCreated', data: { id, ...request } };
const other = [{ key: 'model', values: ['large'] }];
const refiltered: MeterEvent = { type: 'MeterFiltersReplaced', data: { filters: other } };
const disabled: MeterEvent = { type: 'MeterDisabled', data: {} };
const removed: MeterEvent = { type: 'MeterDeleted', data: {} };

test('is created as it was asked for', () => {
  given(meter, []).when(createMeter(id, request)).then([created]);
});

test('new filters replace the old ones; the same or none change nothing', () => {
  given(meter, [created]).when(replaceFilters(id, other)).then([refiltered]);
  given(meter, [created]).when(replaceFilters(id, request.filters)).then([]);
  given(meter, [created]).when(replaceFilters(id, undefined)).then([]);
  given(meter, [created])
    .when(replaceFilters(id, []))
    .thenState((state) => assert.equal(state?.filters, []));
});

test('a stopped meter stays as it is', () => {
  given(meter, [created]).when(disableMeter(id)).then([disabled]);
  given(meter, [created, disabled]).when(disableMeter(id)).then([]);
  const stopped = given(meter, [created, disabled]);
  stopped.when(replaceFilters(id, other)).thenProblem('invalid_operation');
  stopped.when(deleteMeter(id)).thenProblem('invalid_operation');
});

test('what does not exist or is deleted is not found', () => {
  given(meter, [created]).when(deleteMeter(id)).then([removed]);
  for (const past of [[], [created, removed]]) {
    given(meter, past).when(deleteMeter(id)).thenProblem('not_found');
    given(meter, past).when(disableMeter(id)).thenProblem('not_found');
    given(meter, past).when(replaceFilters(id, other)).thenProblem('not_found');
  }
});

test('the view leaves out what the aggregation does not have', () => {
  const view = meterView(folded(meter, [created, disabled]));
  assert.equal(meterSchema.parse(view), view);
  assert.equal(view.aggregation, { type: 'SUM', field: 'tokens' });
  assert.equal([view.status, view.updated_at], ['archived', stampAt(1).occurred_at]);
});

test.run();
