import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createMetrics } from './metrics.ts';

const test = suite('metrics');

const bare = () => createMetrics({ processMetrics: false });

test('counts, gauges and histograms appear in the registry', async () => {
  const metrics = bare();
  metrics.counter({ name: 'things_total', help: 'Things', labels: ['kind'] }).inc({ kind: 'a' }, 2);
  metrics.gauge({ name: 'size_bytes', help: 'Size' }).set(7);
  metrics.histogram({ name: 'wait_seconds', help: 'Wait', buckets: [1, 2] }).observe(1.5);
  const text = await metrics.registry.metrics();
  assert.match(text, /things_total\{kind="a"\} 2/);
  assert.match(text, /size_bytes 7/);
  assert.match(text, /wait_seconds_bucket\{le="1"\} 0/);
  assert.match(text, /wait_seconds_bucket\{le="2"\} 1/);
});

test('the same name gives the same metric', async () => {
  const metrics = bare();
  const first = metrics.counter({ name: 'things_total', help: 'Things' });
  assert.is(metrics.counter({ name: 'things_total', help: 'Things' }), first);
  const gauge = metrics.gauge({ name: 'size', help: 'Size' });
  assert.is(metrics.gauge({ name: 'size', help: 'Size' }), gauge);
  const histogram = metrics.histogram({ name: 'wait', help: 'Wait' });
  assert.is(metrics.histogram({ name: 'wait', help: 'Wait' }), histogram);
});

test('a gauge may be asked for its value when it is read', async () => {
  const metrics = bare();
  let depth = 1;
  metrics.gauge({ name: 'depth', help: 'Depth', collect: (gauge) => gauge.set(depth) });
  assert.match(await metrics.registry.metrics(), /depth 1/);
  depth = 2;
  assert.match(await metrics.registry.metrics(), /depth 2/);
});

test('two processes in one program do not share a registry', async () => {
  const [one, two] = [bare(), bare()];
  one.counter({ name: 'things_total', help: 'Things' }).inc();
  assert.not.match(await two.registry.metrics(), /things_total/);
});

test('has the figures of the process when asked for', async () => {
  assert.match(await createMetrics().registry.metrics(), /process_cpu_seconds_total/);
  assert.not.match(await bare().registry.metrics(), /process_cpu_seconds_total/);
});

test('tells how long the event loop was busy, without a timer that samples its delays', async () => {
  const text = await createMetrics().registry.metrics();
  assert.match(text, /^nodejs_eventloop_active_seconds_total [\d.]+$/m);
  assert.match(text, /^nodejs_eventloop_lag_seconds /m);
  assert.not.match(text, /nodejs_eventloop_lag_p99_seconds/);
});

test.run();
