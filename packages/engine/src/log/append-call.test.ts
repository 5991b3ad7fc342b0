import { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createAppendCall } from './append-call.ts';
import type { MessageGroup } from './message-group.ts';
import { outgoingAppend } from './outgoing-append.ts';
import { errorOf, freshStream, sampleEvent } from './sample-events.ts';

const test = suite('append-call');

/** A call that remembers what is written and says nothing by itself. */
class FakeCall extends Duplex {
  readonly groups: MessageGroup[] = [];
  constructor() {
    super({ objectMode: true, autoDestroy: true, read: () => undefined });
  }
  override _write(group: MessageGroup, _encoding: string, done: () => void): void {
    this.groups.push(group);
    done();
  }
}

function senderOf(calls: readonly FakeCall[]) {
  let opened = 0;
  const append = createAppendCall({
    open: async () => {
      const call = calls[opened];
      opened += 1;
      if (!call) throw new Error('no further call');
      return call;
    },
    refusal: (_answer, stream) => new Error(`refused: ${stream}`),
    explain: (error) => error,
  });
  const send = (stream = freshStream()) =>
    append(outgoingAppend(stream, [sampleEvent()], -1), 1_000);
  return { send, opened: () => opened };
}

test('appends that come in one turn go out in one write', async () => {
  const call = new FakeCall();
  const { send } = senderOf([call]);
  const outcomes = [send(), send(), send()].map(errorOf);
  await nextTurn();
  await nextTurn();
  assert.is(call.groups.length, 1);
  outcomes.push(errorOf(send()));
  await nextTurn();
  await nextTurn();
  assert.is(call.groups.length, 2);
  call.destroy();
  await Promise.all(outcomes);
});

test('the end of the call ends all that wait for it, and the next append begins another', async () => {
  const calls = [new FakeCall(), new FakeCall()];
  const { send, opened } = senderOf(calls);
  const outcomes = [send(), send()].map(errorOf);
  await nextTurn();
  calls[0]?.destroy(new Error('cut'));
  assert.equal(
    (await Promise.all(outcomes)).map(({ message }) => message),
    ['cut', 'cut'],
  );
  const next = errorOf(send());
  await nextTurn();
  assert.is(opened(), 2);
  calls[1]?.destroy();
  assert.match((await next).message, 'ended the call');
});

test('a call that cannot be opened fails its appends', async () => {
  const { send } = senderOf([]);
  assert.is((await errorOf(send())).message, 'no further call');
});

test.run();
