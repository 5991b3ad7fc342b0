import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { DeadlinePassed, startDeadline } from './deadline.ts';
import { errorOf } from './sample-events.ts';

const test = suite('deadline');

test('passes outcomes on', async () => {
  const deadline = startDeadline(60_000);
  assert.is(await deadline.race(Promise.resolve(1)), 1);
  assert.is((await errorOf(deadline.race(Promise.reject(new Error('no'))))).message, 'no');
  assert.ok(deadline.remaining() > 0);
  deadline.clear();
});

test('ends the wait for what never comes', async () => {
  const deadline = startDeadline(1);
  assert.instance(await errorOf(deadline.race(new Promise(() => {}))), DeadlinePassed);
  assert.instance(await errorOf(deadline.race(Promise.resolve(1))), DeadlinePassed);
  assert.is(deadline.remaining(), 0);
});

test('its signal tells that the time is over, whoever asks for it and whenever', async () => {
  const [early, late] = [startDeadline(1), startDeadline(1)];
  const { signal } = early;
  assert.is(signal.aborted, false);
  for (const deadline of [early, late]) await errorOf(deadline.race(new Promise(() => {})));
  for (const { aborted, reason } of [signal, late.signal]) {
    assert.is(aborted, true);
    assert.instance(reason, DeadlinePassed);
  }
});

test('ignores a failure that comes too late', async () => {
  const deadline = startDeadline(1);
  let fail: (error: Error) => void = () => {};
  const late = new Promise<never>((_resolve, reject) => {
    fail = reject;
  });
  await errorOf(deadline.race(late));
  fail(new Error('nobody listens, and the process must live'));
  await Promise.resolve();
});

test.run();
