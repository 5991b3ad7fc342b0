import { mock } from 'node:test';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { flushInTime } from './log-output.ts';

const test = suite('flushing of a log');

/** A stream that notes how often it was flushed; `end` ends the writing that is under way. */
function noted() {
  let ended = () => {};
  const stream = {
    flushes: 0,
    flush: () => {
      stream.flushes += 1;
    },
    on: (_event: 'drain', listener: () => void) => {
      ended = listener;
    },
    end: () => ended(),
  };
  return stream;
}

const turns = (count: number): void => {
  for (let turn = 0; turn < count; turn += 1) mock.timers.tick(100);
};

test.before.each(() => mock.timers.enable({ apis: ['setInterval'] }));
test.after.each(() => mock.timers.reset());

test('leaves a stream without lines alone', () => {
  const stream = noted();
  flushInTime(stream);
  turns(5);
  assert.is(stream.flushes, 0);
});

test('flushes until two writings have ended, for the first may have begun before the line', () => {
  const stream = noted();
  const lineWaits = flushInTime(stream);
  lineWaits();
  turns(1);
  stream.end();
  turns(1);
  assert.is(stream.flushes, 2);
  stream.end();
  turns(5);
  assert.is(stream.flushes, 2);
  lineWaits();
  turns(1);
  assert.is(stream.flushes, 3);
});

test('goes on while nobody takes the lines, and after a fault', () => {
  const stream = noted();
  flushInTime(stream)();
  turns(7);
  assert.is(stream.flushes, 7);
});

test('counts anew with each line', () => {
  const stream = noted();
  const lineWaits = flushInTime(stream);
  lineWaits();
  turns(1);
  stream.end();
  lineWaits();
  turns(1);
  stream.end();
  turns(1);
  assert.is(stream.flushes, 3);
});

test.run();
