import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createMetrics } from '../operations/metrics.ts';
import { Progress } from './progress.ts';
import { logStart } from './resume.ts';

const test = suite('progress of the relay');

const at = (sequence: number, position: bigint, complete = true) => ({
  sequence,
  position,
  index: 0,
  complete,
});

test('a checkpoint never stands inside an event', () => {
  const progress = new Progress();
  assert.is(progress.checkpoint(), null);
  progress.opened('BILLING then', logStart);
  assert.is(progress.checkpoint(), null);
  progress.placed(at(2, 20n), 2);
  progress.placed(at(3, 30n, false), 1);
  const stream = 'BILLING then';
  assert.equal(progress.checkpoint(), { stream, sequence: 2, position: 20n });
  assert.is(progress.status().sequence, 3);
  progress.placed(at(4, 30n), 1);
  assert.equal(progress.checkpoint(), { stream, sequence: 4, position: 30n });
  assert.is(progress.status().published, 4);
});

test('the lag is the age of the oldest event in hand, and the way to the end of the log', () => {
  let now = 10_000;
  const progress = new Progress(undefined, () => now);
  progress.opened('BILLING then', at(1, 100n));
  progress.head = 250n;
  assert.is(progress.status().headLag, 150n);
  progress.isCaughtUp = true;
  assert.is(progress.status().headLag, 0n);
  now = 9_000;
  progress.took();
  now = 10_000;
  progress.took();
  now = 12_500;
  assert.is(progress.status().lagMilliseconds, 3_500);
  assert.is(progress.status().headLag, 150n);
  progress.inHandSince = null;
  assert.is(progress.status().lagMilliseconds, 0);
  progress.placed(at(2, 300n), 1);
  progress.isCaughtUp = false;
  assert.is(progress.status().headLag, 0n);
});

test('an error stays until something is published', () => {
  const progress = new Progress();
  progress.error = 'away';
  progress.placed(at(5, 5n), 0);
  assert.is(progress.status().error, 'away');
  progress.placed(at(6, 6n), 1);
  assert.is(progress.status().error, null);
});

test('all is in the metrics', async () => {
  const metrics = createMetrics({ processMetrics: false });
  const progress = new Progress(metrics, () => 5_000);
  progress.opened('BILLING then', at(1, 100n));
  progress.head = 140n;
  progress.inHandSince = 3_000;
  progress.placed(at(4, 120n), 3);
  progress.resynced('conflict');
  progress.damaged('torn_tail');
  progress.truncated();
  progress.error = 'away';
  const text = await metrics.registry.metrics();
  for (const line of [
    'counterfoil_relay_lag_positions 20',
    'counterfoil_relay_lag_seconds 2',
    'counterfoil_relay_failing 1',
    'counterfoil_relay_published_total 3',
    'counterfoil_relay_resyncs_total{reason="conflict"} 1',
    'counterfoil_relay_stream_damages_total{damage="torn_tail"} 1',
    'counterfoil_relay_truncated_total 1',
  ]) {
    assert.ok(text.split('\n').includes(line), line);
  }
});

test.run();
