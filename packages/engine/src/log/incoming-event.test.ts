import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { incomingEvent, UnreadableEvent } from './incoming-event.ts';
import type { WireEvent } from './read-message.ts';

const test = suite('incoming-event');
const kept = {
  $correlationId: 'req_1',
  actor: { key_id: null, user_id: null },
  hash: '1'.repeat(64),
  occurred_at: '2026-01-01T00:00:00.000Z',
  tenant_id: 'tenant_1',
};
const recorded: WireEvent = {
  stream: 'wallet-env_1.w1',
  id: '6f1a1f0e-6c7e-4a53-9f1c-3a2d5f0b7c11',
  revision: 7,
  type: 'CreditsGranted',
  isJson: true,
  data: '{"amount":"1.00"}',
  metadata: JSON.stringify(kept),
  position: 42,
};

test('gives an event of ours with number and position', () => {
  assert.equal(
    { ...incomingEvent(recorded) },
    {
      stream: 'wallet-env_1.w1',
      revision: 7,
      position: 85n,
      id: recorded.id,
      type: 'CreditsGranted',
      data: { amount: '1.00' },
      metadata: {
        ...kept,
        $causationId: 'req_1',
        environment_id: 'env_1',
        schema_version: 1,
      },
    },
  );
});

test('passes over streams whose name is not ours, whatever they hold', () => {
  for (const stream of ['', '$$wallet-env_1.w1', '$settings', 'orders', 'wallet-a-b', 'wallet-e']) {
    assert.is(incomingEvent({ ...recorded, stream, metadata: '' }), null);
  }
});

test('stops at a foreign event under a name of ours and says which', () => {
  const foreign: readonly Partial<WireEvent>[] = [
    { metadata: '' },
    { metadata: 'bytes' },
    { metadata: '{"tenant_id":"tenant_1"}' },
    { metadata: '[]' },
    { data: 'malformed {' },
    { data: '[]' },
    { isJson: false },
    { position: null },
    { position: 2 ** 53 },
  ];
  for (const part of foreign) {
    assert.throws(
      () => incomingEvent({ ...recorded, ...part }),
      (error: unknown) =>
        error instanceof UnreadableEvent &&
        error.stream === 'wallet-env_1.w1' &&
        error.revision === 7 &&
        error.message.startsWith('wallet-env_1.w1@7 cannot be read: '),
    );
  }
});

test.run();
