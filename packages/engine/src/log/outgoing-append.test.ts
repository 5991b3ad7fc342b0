import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ChainedEvent } from './hash-chain.ts';
import { outgoingAppend } from './outgoing-append.ts';
import { sampleEvent } from './sample-events.ts';
import { AppendError, type AppendFailure, type NewEvent } from './types.ts';

const test = suite('outgoing-append');
const stream = 'wallet-env_01.w1';

const failureOf = (work: () => unknown): AppendFailure => {
  try {
    work();
  } catch (error) {
    if (error instanceof AppendError) return error.failure;
    throw error;
  }
  throw new Error('was expected to fail');
};

const withMetadata = (event: NewEvent, metadata: unknown): NewEvent =>
  ({ ...event, metadata }) as NewEvent;

test('sends the texts that were hashed, so that later changes cannot reach the store', () => {
  const data = { amount: '1.00', lots: [{ id: 'lot_1' }] };
  const event = sampleEvent(data);
  data.lots[0] = { id: 'changed' };
  const { events } = outgoingAppend(stream, [event], -1);
  const { id, type } = event;
  assert.equal(events, [{ id, type, ...ChainedEvent.textsOf(event) }]);
  assert.is(events[0]?.data, '{"amount":"1.00","lots":[{"id":"lot_1"}]}');
});

test('counts bytes as the server does: data, metadata and twice the type', () => {
  const event = sampleEvent({ note: 'é' });
  const { bytes, events } = outgoingAppend(stream, [event], 4);
  const texts = `${events[0]?.data}${events[0]?.metadata}`;
  assert.is(bytes, Buffer.byteLength(texts) + 2 * event.type.length);
});

test('refuses what no reader of ours could read back', () => {
  const event = sampleEvent();
  const { hash: _hash, ...unhashed } = event.metadata;
  const refused: readonly [string, readonly NewEvent[], number][] = [
    ['orders', [event], -1],
    [stream, [], -1],
    [stream, [event], -2],
    [stream, [event], 0.5],
    [stream, [{ ...event, id: 'not-a-uuid' }], -1],
    [stream, [{ ...event, id: '00000000-0000-0000-0000-000000000000' }], -1],
    [stream, [{ ...event, type: '' }], -1],
    [stream, [{ ...event, type: '$metadata' }], -1],
    [stream, [{ ...event, data: { amount: 1n } }], -1],
    [stream, [{ ...event, data: undefined }], -1],
    [stream, [{ ...event, data: 'text' }], -1],
    [stream, [{ ...event, data: [] }], -1],
    [stream, [withMetadata(event, unhashed)], -1],
    [stream, [withMetadata(event, { ...event.metadata, more: new Date() })], -1],
  ];
  for (const [name, events, revision] of refused) {
    assert.is(
      failureOf(() => outgoingAppend(name, events, revision)),
      'fatal',
    );
  }
});

test('says in the error where the fault is', () => {
  const event = { ...sampleEvent(), data: { lots: [{ amount: 1n }] } };
  assert.throws(
    () => outgoingAppend(stream, [event], -1),
    (error: Error) =>
      error.message.includes(`${stream}: data of CreditsGranted ${event.id}`) &&
      error.message.includes('data.lots[0].amount: JSON cannot carry bigint'),
  );
});

test.run();
