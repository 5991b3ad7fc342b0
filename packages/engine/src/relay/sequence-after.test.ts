import { NatsError } from 'nats';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { JetStreamRequests } from '../nats/nats-tail.ts';
import { headerNames } from './message.ts';
import { sequenceAfter } from './sequence-after.ts';

const test = suite('where messages after a position begin');

const messageNotFound = 10037;

/** A stream with a message at every tenth position; `drop` is asked before each request. */
function streamOf(messages: number, drop: (requests: number) => number = () => 0) {
  let requests = 0;
  let dropped = 0;
  const step = (): void => {
    requests += 1;
    dropped = Math.min(messages, Math.max(dropped, drop(requests)));
  };
  const streams = {
    info: async () => {
      step();
      const state = { first_seq: dropped + 1, last_seq: messages, messages: messages - dropped };
      return { state };
    },
    getMessage: async (_stream: string, { seq }: { readonly seq: number }) => {
      step();
      if (seq <= dropped || seq > messages) {
        const error = new NatsError('no message found', '404');
        error.api_error = { code: 404, err_code: messageNotFound, description: 'no message found' };
        throw error;
      }
      const headers = new Map<string, string>([
        [headerNames.position, String(seq * 10)],
        [headerNames.index, '0'],
        [headerNames.count, '1'],
        [headerNames.stream, 'box-env_01.1'],
        [headerNames.revision, '0'],
      ]);
      return { subject: '', header: { get: (name: string) => headers.get(name) ?? '' } };
    },
  };
  return {
    manager: { streams },
    run: <Value>(promise: Promise<Value>) => promise,
  } as unknown as JetStreamRequests;
}

test('it is the first one whose position is greater', async () => {
  for (let position = 0; position <= 210; position += 1) {
    const place = await sequenceAfter(streamOf(20), BigInt(position));
    assert.is(place.sequence, Math.min(21, Math.floor(position / 10) + 1));
    assert.is(place.isIncomplete, false);
  }
});

test('it is incomplete when one after the position is not kept, and only then', async () => {
  for (let position = 0; position <= 210; position += 5) {
    const place = await sequenceAfter(
      streamOf(20, () => 5),
      BigInt(position),
    );
    assert.is(place.isIncomplete, position < 60, `after ${position}`);
    assert.is(place.oldest, 60n);
  }
});

test('what is dropped at whatever moment of the search is noticed', async () => {
  for (let moment = 1; moment <= 10; moment += 1) {
    const dropping = streamOf(20, (requests) => (requests >= moment ? 12 : 0));
    const place = await sequenceAfter(dropping, 50n);
    // The search itself takes six requests; what is dropped later is for the reader to notice.
    if (moment <= 7) assert.ok(place.isIncomplete, `dropped at request ${moment}`);
    const kept = await sequenceAfter(
      streamOf(20, (requests) => (requests >= moment ? 12 : 0)),
      150n,
    );
    assert.equal([kept.sequence, kept.isIncomplete], [16, false], `dropped at request ${moment}`);
  }
});

test('in a stream that has lost everything it is the next one, whenever that happened', async () => {
  for (let moment = 1; moment <= 7; moment += 1) {
    const emptied = streamOf(20, (requests) => (requests >= moment ? 20 : 0));
    const place = await sequenceAfter(emptied, 50n);
    assert.equal(place, { sequence: 21, isIncomplete: false, oldest: null });
  }
});

test('null is the oldest that is kept', async () => {
  const place = await sequenceAfter(
    streamOf(20, (requests) => (requests >= 2 ? 3 : 0)),
    null,
  );
  assert.equal(place, { sequence: 4, isIncomplete: false, oldest: 40n });
});

test.run();
