import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createBackOff, pause, unlessAborted } from './pause.ts';

const test = suite('waiting');

test('a pause ends when it is called off', async () => {
  const abort = new AbortController();
  const long = pause(600_000, abort.signal);
  abort.abort();
  await long;
  await pause(600_000, abort.signal);
});

test('a back-off grows up to its limit and starts over', () => {
  const backOff = createBackOff(100, 1_000);
  const times = Array.from({ length: 20 }, () => backOff.next());
  assert.ok(times[0]! >= 50 && times[0]! <= 100);
  assert.ok(times[2]! >= 200 && times[2]! <= 400);
  assert.ok(times.slice(5).every((time) => time >= 500 && time <= 1_000));
  backOff.reset();
  assert.ok(backOff.next() <= 100);
});

test('an outcome that comes in time is passed on', async () => {
  const { signal } = new AbortController();
  assert.is(await unlessAborted(Promise.resolve(7), signal), 7);
  const failing = unlessAborted(Promise.reject(new Error('no')), signal);
  assert.match(String(await failing.catch((error) => error)), /no/);
});

test('an outcome that is not waited for any more is the reason', async () => {
  const abort = new AbortController();
  const never = new Promise<never>(() => undefined);
  const waiting = unlessAborted(never, abort.signal).catch((error) => error);
  abort.abort(new Error('enough'));
  assert.match(String(await waiting), /enough/);
  const late = unlessAborted(Promise.reject(new Error('unheard')), abort.signal);
  assert.match(String(await late.catch((error) => error)), /enough/);
});

test.run();
