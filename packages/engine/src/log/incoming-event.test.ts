import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  incomingEvent,
  positionOf,
  type RecordedEventLike,
  UnreadableEvent,
} from './incoming-event.ts';

const test = suite('incoming-event');
const metadata = { tenant_id: 'tenant_1', prev: '0'.repeat(64), hash: '1'.repeat(64) };
const recorded: RecordedEventLike = {
  streamId: 'wallet-env_1.w1',
  id: '6f1a1f0e-6c7e-4a53-9f1c-3a2d5f0b7c11',
  revision: 7n,
  type: 'CreditsGranted',
  isJson: true,
  data: { amount: '1.00' },
  metadata,
  position: { commit: 42n, prepare: 42n },
};

test('gives an event of ours with number and position', () => {
  assert.equal(incomingEvent({ event: recorded, commitPosition: 42n }), {
    stream: 'wallet-env_1.w1',
    revision: 7,
    position: 42n,
    id: recorded.id,
    type: 'CreditsGranted',
    data: { amount: '1.00' },
    metadata,
  });
});

test('takes the position from wherever the server put it', () => {
  assert.is(positionOf({ event: recorded }), 42n);
  assert.is(positionOf({ commitPosition: 9n }), 9n);
  assert.is(positionOf({}), null);
});

test('passes over streams whose name is not ours, whatever they hold', () => {
  for (const streamId of [
    '$$wallet-env_1.w1',
    '$settings',
    'orders',
    'wallet-a-b',
    'wallet-env_1',
  ]) {
    assert.is(incomingEvent({ event: { ...recorded, streamId, metadata: undefined } }), null);
  }
  assert.is(incomingEvent({}), null);
});

test('stops at a foreign event under a name of ours and says which', () => {
  const foreign: readonly Partial<RecordedEventLike>[] = [
    { metadata: undefined },
    { metadata: Buffer.from('bytes') },
    { metadata: { prev: 'x' } },
    { metadata: [] },
    { data: 'malformed {' },
    { data: [] },
    { isJson: false, data: Buffer.from('{}') },
    { position: undefined },
  ];
  for (const part of foreign) {
    assert.throws(
      () => incomingEvent({ event: { ...recorded, ...part } }),
      (error: unknown) =>
        error instanceof UnreadableEvent &&
        error.stream === 'wallet-env_1.w1' &&
        error.revision === 7 &&
        error.message.startsWith('wallet-env_1.w1@7 cannot be read: '),
    );
  }
});

test.run();
