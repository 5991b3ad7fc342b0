import { suite } from 'uvu';
import * as assert from 'uvu/assert';
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

test('copies events, so that later changes cannot reach the store', () => {
  const data = { amount: '1.00', lots: [{ id: 'lot_1' }] };
  const event = sampleEvent(data);
  const { events } = outgoingAppend(stream, [event], -1);
  data.lots[0] = { id: 'changed' };
  assert.equal(events[0]?.data, { amount: '1.00', lots: [{ id: 'lot_1' }] });
  assert.equal(JSON.parse(Buffer.from(events[0]?.metadata ?? []).toString()), event.metadata);
  assert.is(events[0]?.contentType, 'application/json');
});

test('counts bytes as the server does: data, metadata and twice the type', () => {
  const event = sampleEvent({ note: 'é' });
  const { bytes } = outgoingAppend(stream, [event], 4);
  const texts = JSON.stringify(event.data) + JSON.stringify(event.metadata);
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
