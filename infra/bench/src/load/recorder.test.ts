import { decodeFromCompressedBase64 } from 'hdr-histogram-js';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Recorder } from './recorder.ts';

const test = suite('recorder of the load generator');

/** HDR histograms of three digits are exact to one part in a thousand. */
const isNear = (actual: number | undefined, expected: number): void => {
  assert.ok(Math.abs((actual ?? Number.NaN) - expected) <= expected / 1_000, `${actual}`);
};

test('percentiles are those of the times from the intended instant to the answer', () => {
  const recorder = new Recorder(0, 10_000);
  for (let time = 1; time <= 1_000; time += 1) recorder.note('writes', 0, time, 1);
  const [sample] = recorder.samples();
  isNear(sample?.latency.p50, 500);
  isNear(sample?.latency.p95, 950);
  isNear(sample?.latency.p99, 990);
  isNear(sample?.latency.p999, 999);
  isNear(sample?.latency.maximum, 1_000);
});

test('only answers between the two instants count, and rates are over that time', () => {
  const recorder = new Recorder(1_000, 3_000);
  recorder.note('writes', 900, 999, 5);
  recorder.note('writes', 900, 1_000, 5);
  recorder.note('writes', 2_000, 2_999, 5);
  recorder.note('writes', 2_000, 3_000, 5);
  const [sample] = recorder.samples();
  assert.is(sample?.requests, 2);
  assert.is(sample?.requestsPerSecond, 1);
  assert.is(sample?.entriesPerSecond, 5);
});

test('the time of a request that was to be sent in time counts, however late its answer is', () => {
  const recorder = new Recorder(1_000, 3_000);
  recorder.note('writes', 900, 2_900, 1);
  recorder.note('writes', 2_999, 10_999, 1);
  const [sample] = recorder.samples();
  isNear(sample?.latency.p50, 8_000);
  assert.is(sample?.requests, 1);
});

test('each kind of request has a histogram of its own, which can be read back', () => {
  const recorder = new Recorder(0, 1_000);
  recorder.note('writes', 0, 10, 1);
  recorder.note('repeats', 0, 20, 0);
  const samples = recorder.samples();
  assert.equal(
    samples.map(({ name }) => name),
    ['writes', 'repeats'],
  );
  const again = decodeFromCompressedBase64(samples[1]?.histogram ?? '');
  isNear(again.getValueAtPercentile(50), 20_000);
});

test('a time that is too long to be told apart counts as the longest', () => {
  const recorder = new Recorder(0, 1_000_000);
  recorder.note('writes', 0, 999_999, 1);
  isNear(recorder.samples()[0]?.latency.maximum, 120_000);
});

test.run();
