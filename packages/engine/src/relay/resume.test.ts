import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Tail } from '../nats/nats-tail.ts';
import { isAfter, logStart, resumption } from './resume.ts';

const test = suite('resuming');

const last = { position: 500n, index: 1, count: 2, stream: 'box-e.b', revision: 3 };
const tail = (change: Partial<Tail> = {}): Tail => ({
  identity: 'BILLING then',
  sequence: 70,
  last,
  ...change,
});
const row = { stream: 'BILLING then', sequence: 60, position: 400n };

test('the last message of the stream says where to go on', () => {
  const from = { sequence: 70, position: 500n, index: 1, complete: true };
  assert.equal(resumption(tail(), null), { from, skip: 0, damage: null });
  assert.equal(resumption(tail(), row), { from, skip: 0, damage: null });
});

test('an event whose messages are not all there is not complete', () => {
  const cut = resumption(tail({ last: { ...last, index: 0 } }), null);
  assert.is(cut.from.complete, false);
  const place = cut.from;
  assert.is(isAfter({ position: 500n, index: 0 }, place), false);
  assert.is(isAfter({ position: 500n, index: 1 }, place), true);
  assert.is(isAfter({ position: 499n, index: 9 }, place), false);
  assert.is(isAfter({ position: 501n, index: 0 }, place), true);
});

test('of an event that is complete no message is missing', () => {
  const { from } = resumption(tail(), null);
  assert.is(isAfter({ position: 500n, index: 5 }, from), false);
});

test('an empty stream is filled from the start', () => {
  const empty = tail({ sequence: 0, last: null });
  assert.equal(resumption(empty, null), { from: logStart, skip: 0, damage: null });
});

test('a stream that was made again is filled from the start, and it is told', () => {
  const renewed = tail({ identity: 'BILLING now', sequence: 0, last: null });
  assert.equal(resumption(renewed, row), { from: logStart, skip: 0, damage: 'recreated' });
});

test('a stream that has lost its end is filled from what is left, and it is told', () => {
  const torn = resumption(tail({ sequence: 50 }), row);
  assert.is(torn.from.sequence, 50);
  assert.is(torn.damage, 'torn_tail');
});

test('a stream that has aged out goes on from the checkpoint, counting off what it had', () => {
  const aged = tail({ last: null });
  const from = { sequence: 60, position: 400n, index: 0, complete: true };
  assert.equal(resumption(aged, row), { from, skip: 10, damage: null });
});

test('without a checkpoint of this stream everything is counted off', () => {
  const aged = tail({ last: null });
  assert.equal(resumption(aged, null), { from: logStart, skip: 70, damage: null });
  const other = { ...row, stream: 'BILLING before' };
  assert.equal(resumption(aged, other), { from: logStart, skip: 70, damage: 'recreated' });
  const beyond = { ...row, sequence: 71 };
  assert.equal(resumption(aged, beyond), { from: logStart, skip: 70, damage: 'torn_tail' });
});

test.run();
