import { Writable } from 'node:stream';
import type { ServerWritableStream } from '@grpc/grpc-js';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { limits } from './limits.ts';
import type { FramedMessages } from './outlet.ts';
import { createOutlet } from './outlet.ts';
import { unavailable } from './status.ts';

const test = suite('outlet');

/** A call whose client takes nothing until it is told to. */
function setUp() {
  const taken: string[] = [];
  let take = (): void => {};
  const call = new Writable({
    objectMode: true,
    highWaterMark: 1,
    write: (group: FramedMessages, _encoding, done) => {
      const bytes = Buffer.alloc(group.byteLength + 5);
      group.copy(bytes, 5);
      taken.push(bytes.toString('latin1'));
      take = done;
    },
  });
  const errors: unknown[] = [];
  call.on('error', (error) => errors.push(error));
  const outlet = createOutlet(call as unknown as ServerWritableStream<unknown, FramedMessages>);
  return { call, outlet, taken, errors, take: () => take() };
}

test('sends what was pushed as one write with a header for each message', async () => {
  const { outlet, taken, take } = setUp();
  outlet.push(Buffer.from('one'));
  outlet.push(Buffer.from('three'));
  assert.equal(taken, []);
  const flushed = outlet.flush();
  assert.equal(taken, ['\0\0\0\0\x03one\0\0\0\0\x05three']);
  take();
  await flushed;
  await outlet.flush();
  assert.is(taken.length, 1);
});

test('is full when enough is waiting, and empty again after a flush', () => {
  const { outlet } = setUp();
  outlet.push(Buffer.alloc(limits.sendBytes - 1));
  assert.not(outlet.isFull());
  outlet.push(Buffer.alloc(1));
  assert.ok(outlet.isFull());
  void outlet.flush();
  assert.not(outlet.isFull());
});

for (const event of ['cancelled', 'close']) {
  test(`a call that is over (${event}) releases who waits and takes nothing more`, async () => {
    const { call, outlet, taken } = setUp();
    let closed = 0;
    outlet.onClosed(() => {
      closed += 1;
    });
    outlet.push(Buffer.from('one'));
    const flushed = outlet.flush();
    call.emit(event);
    await flushed;
    assert.ok(outlet.isClosed());
    outlet.push(Buffer.from('two'));
    await outlet.flush();
    outlet.end();
    outlet.fail(unavailable('late'));
    call.emit(event);
    assert.is(taken.length, 1);
    assert.is(closed, 1);
    outlet.onClosed(() => {
      closed += 1;
    });
    assert.is(closed, 2);
  });
}

test('sends what is waiting before it ends or fails', () => {
  for (const way of ['end', 'fail'] as const) {
    const { outlet, taken, errors } = setUp();
    outlet.push(Buffer.from('last'));
    if (way === 'end') outlet.end();
    else outlet.fail(unavailable('over'));
    assert.equal(taken, ['\0\0\0\0\x04last']);
    assert.is(errors.length, way === 'end' ? 0 : 1);
    assert.ok(outlet.isClosed());
  }
});

test('a group refuses to be framed in another way', () => {
  const { outlet, call } = setUp();
  const groups: FramedMessages[] = [];
  call.write = (group: FramedMessages) => {
    groups.push(group);
    return true;
  };
  outlet.push(Buffer.from('one'));
  void outlet.flush();
  assert.throws(() => groups[0]?.copy(Buffer.alloc(3), 0), 'no longer frames');
});

test.run();
