import { setImmediate as nextTurn } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type AppendPass, createAppendGate } from './append-gate.ts';
import { errorOf } from './sample-events.ts';

const test = suite('append-gate');
const never = new AbortController().signal;

function gateOf(appends: number, bytes: number) {
  const gate = createAppendGate({ appends, bytes });
  const inside: AppendPass[] = [];
  const enter = (size = 1, signal = never) =>
    gate.enter(size, signal).then((pass) => inside.push(pass));
  return { gate, inside, enter };
}

test('lets a number of any size in, and more while they are small', async () => {
  const { inside, enter } = gateOf(2, 10);
  void enter(100);
  void enter(100);
  void enter(1);
  await nextTurn();
  await nextTurn();
  assert.is(inside.length, 2);
  inside[0]?.leave();
  await nextTurn();
  assert.is(inside.length, 3);
});

test('lets more than the number in as long as their bytes fit', async () => {
  const { inside, enter } = gateOf(2, 10);
  for (let index = 0; index < 12; index += 1) void enter(1);
  await nextTurn();
  assert.is(inside.length, 10);
});

test('keeps the order of arrival, so that a large append is not passed over for ever', async () => {
  const gate = createAppendGate({ appends: 1, bytes: 10 });
  const order: string[] = [];
  const enter = (name: string, size: number) =>
    gate.enter(size, never).then((pass) => {
      order.push(name);
      return pass;
    });
  const first = await enter('first', 5);
  const large = enter('large', 50);
  const small = enter('small', 1);
  await nextTurn();
  assert.equal(order, ['first']);
  first.leave();
  (await large).leave();
  await small;
  assert.equal(order, ['first', 'large', 'small']);
});

test('gives up waiting when the signal aborts, and lets the next one through', async () => {
  const { inside, enter } = gateOf(1, 10);
  const controller = new AbortController();
  await enter(5);
  const large = enter(50, controller.signal);
  void enter(1);
  controller.abort(new Error('too late'));
  assert.is((await errorOf(large)).message, 'too late');
  await nextTurn();
  await nextTurn();
  assert.is(inside.length, 2);
});

test('counts a pass once however often it is given back', async () => {
  const { inside, enter } = gateOf(1, 1);
  await enter(5);
  inside[0]?.leave();
  inside[0]?.leave();
  void enter(5);
  void enter(5);
  await nextTurn();
  await nextTurn();
  assert.is(inside.length, 2);
});

test('does work while nobody is inside and nobody enters', async () => {
  const { gate, inside, enter } = gateOf(5, 100);
  await enter();
  const log: string[] = [];
  const work = gate.whileEmpty(async () => {
    log.push(`working, ${inside.length} entered`);
    await nextTurn();
    log.push(`done, ${inside.length} entered`);
  });
  const late = enter();
  await nextTurn();
  assert.equal(log, []);
  inside[0]?.leave();
  await Promise.all([work, late]);
  assert.equal(log, ['working, 1 entered', 'done, 1 entered']);
});

test('shuts without waiting for those inside, and opens after a failure too', async () => {
  const { gate, inside, enter } = gateOf(5, 100);
  await enter();
  const work = gate.whileShut(() => Promise.reject(new Error('failed')));
  const late = enter();
  assert.is(inside.length, 1);
  assert.is((await errorOf(work)).message, 'failed');
  await late;
  assert.is(inside.length, 2);
});

test.run();
