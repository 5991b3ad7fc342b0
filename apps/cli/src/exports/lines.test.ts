import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { rangesOf, runLine, scheduleLine } from './lines.ts';

const test = suite('exports on the command line');

const daily = {
  id: 'schtask_1',
  entity_type: 'invoice',
  interval: 'daily',
  timezone: 'Europe/Berlin',
  enabled: false,
  exported_until: '2026-01-01T23:00:00.000Z',
  next_run_at: null,
};

test('a range is taken interval by interval, whole, in the zone of the task', () => {
  assert.equal(rangesOf(daily, '2026-01-01T00:00:00Z', '2026-01-04T12:00:00Z'), [
    { start: '2026-01-01T23:00:00.000Z', end: '2026-01-02T23:00:00.000Z' },
    { start: '2026-01-02T23:00:00.000Z', end: '2026-01-03T23:00:00.000Z' },
  ]);
});

test('a range that is none, or without an interval, is refused', () => {
  assert.throws(() => rangesOf(daily, 'yesterday', '2026-01-04T12:00:00Z'), /must be instants/);
  assert.throws(
    () => rangesOf(daily, '2026-01-01T00:00:00Z', '2026-01-01T22:00:00Z'),
    /No whole interval/,
  );
  const quarters = { ...daily, interval: '15MIN' };
  assert.throws(
    () => rangesOf(quarters, '2020-01-01T00:00:00Z', '2026-01-01T00:00:00Z'),
    /more than 10000/,
  );
});

test('tasks and runs are a line each', () => {
  assert.is(
    scheduleLine(daily),
    'schtask_1  invoice  daily  Europe/Berlin  closed until 2026-01-01T23:00:00.000Z  paused',
  );
  assert.is(
    runLine({
      id: 'task_1',
      task_status: 'FAILED',
      processed_records: 1200,
      error_summary: 'The storage answered NoSuchBucket (404).',
      metadata: { start_time: 'a', end_time: 'b' },
    }),
    'task_1  FAILED      a to b  1,200 rows  The storage answered NoSuchBucket (404).',
  );
});

test.run();
