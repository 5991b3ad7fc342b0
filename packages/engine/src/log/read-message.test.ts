import sharedMessages from '@eventstore/db-client/generated/shared_pb.js';
import streamMessages from '@eventstore/db-client/generated/streams_pb.js';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readMessage } from './read-message.ts';

const test = suite('read-message');
const { ReadResp } = streamMessages;
const { ReadEvent } = ReadResp;
const id = '6f1a1f0e-6c7e-4a53-9f1c-3a2d5f0b7c11';

/** The bytes that the client's own classes make of a message: the counterpart of this decoding. */
function bytesOf(fill: (response: streamMessages.ReadResp) => void): Buffer {
  const response = new ReadResp();
  fill(response);
  return Buffer.from(response.serializeBinary());
}

interface Given {
  readonly revision?: string;
  readonly commit?: string;
  readonly resolvedCommit?: string;
  readonly contentType?: string;
  readonly data?: string;
  readonly metadata?: string;
}

const eventBytes = ({
  revision = '7',
  commit = '42',
  resolvedCommit,
  contentType = 'application/json',
  data = '{"amount":"1.00"}',
  metadata = '{"é":"😀"}',
}: Given = {}): Buffer =>
  bytesOf((response) => {
    const event = new ReadEvent.RecordedEvent();
    const uuid = new sharedMessages.UUID();
    uuid.setString(id);
    event.setId(uuid);
    const stream = new sharedMessages.StreamIdentifier();
    stream.setStreamName(Buffer.from('wallet-env_1.w1'));
    event.setStreamIdentifier(stream);
    event.setStreamRevision(revision);
    event.setPreparePosition(commit);
    event.setCommitPosition(commit);
    const properties = event.getMetadataMap();
    properties.set('type', 'CreditsGranted');
    properties.set('content-type', contentType);
    properties.set('created', '17000000000000000');
    event.setCustomMetadata(Buffer.from(metadata));
    event.setData(Buffer.from(data));
    const resolved = new ReadEvent();
    resolved.setEvent(event);
    if (resolvedCommit) resolved.setCommitPosition(resolvedCommit);
    response.setEvent(resolved);
  });

test('gives an event with the texts that were written', () => {
  assert.equal(readMessage(eventBytes()), {
    kind: 'event',
    event: {
      stream: 'wallet-env_1.w1',
      id,
      revision: 7,
      position: 42,
      type: 'CreditsGranted',
      isJson: true,
      data: '{"amount":"1.00"}',
      metadata: '{"é":"😀"}',
    },
  });
});

const eventOf = (given: Given) => {
  const message = readMessage(eventBytes(given));
  if (message.kind !== 'event') throw new Error(`a message of kind ${message.kind}`);
  return message.event;
};

test('takes the position from wherever the server put it, the log first', () => {
  assert.is(eventOf({ resolvedCommit: '9' }).position, 9);
  assert.is(eventOf({ resolvedCommit: '0' }).position, 0);
  const bare = bytesOf((response) => {
    const resolved = new ReadEvent();
    resolved.setEvent(new ReadEvent.RecordedEvent());
    response.setEvent(resolved);
  });
  const message = readMessage(bare);
  assert.is(message.kind === 'event' && message.event.position, null);
});

test('gives numbers exactly up to 2^53, and what is larger as large', () => {
  for (const number of [0, 127, 128, 2 ** 31, 2 ** 32, 2 ** 53 - 1]) {
    assert.is(eventOf({ revision: String(number) }).revision, number);
    assert.is(eventOf({ resolvedCommit: String(number) }).position, number);
  }
  const largest = String(2n ** 63n - 1n);
  assert.is(eventOf({ revision: largest }).revision, 2 ** 63);
});

test('tells JSON from other bytes', () => {
  assert.is(eventOf({ contentType: 'application/octet-stream' }).isJson, false);
  assert.equal(
    [eventOf({ data: '', metadata: '' })].map(({ data, metadata }) => data + metadata),
    [''],
  );
});

test('gives what a subscription says beside events', () => {
  const checkpoint = bytesOf((response) => {
    const message = new ReadResp.Checkpoint();
    message.setCommitPosition('300');
    message.setPreparePosition('299');
    response.setCheckpoint(message);
  });
  assert.equal(readMessage(checkpoint), { kind: 'checkpoint', commit: 300, prepare: 299 });
  const confirmed = bytesOf((response) => {
    const message = new ReadResp.SubscriptionConfirmation();
    message.setSubscriptionId('one');
    response.setConfirmation(message);
  });
  assert.equal(readMessage(confirmed), { kind: 'confirmed' });
  const caughtUp = bytesOf((response) => response.setCaughtUp(new ReadResp.CaughtUp()));
  assert.equal(readMessage(caughtUp), { kind: 'caught_up' });
});

test('passes over what is of no interest, known or not', () => {
  const notFound = bytesOf((response) => {
    const message = new ReadResp.StreamNotFound();
    message.setStreamIdentifier(new sharedMessages.StreamIdentifier());
    response.setStreamNotFound(message);
  });
  const first = bytesOf((response) => response.setFirstStreamPosition('5'));
  // Field 100, in each of the shapes that a field can have.
  const unknown = ['a00601', 'a1060102030405060708', 'a206026869', 'a50601020304'];
  for (const bytes of [notFound, first, ...unknown.map((hex) => Buffer.from(hex, 'hex'))]) {
    assert.equal(readMessage(bytes), { kind: 'other' });
    const before = readMessage(Buffer.concat([bytes, eventBytes()]));
    assert.equal(before, readMessage(eventBytes()));
  }
});

test('refuses bytes that are no message, at whichever place they end', () => {
  const whole = eventBytes();
  for (let length = 1; length < whole.length; length += 1) {
    assert.throws(() => readMessage(whole.subarray(0, length)), RangeError);
  }
  assert.throws(() => readMessage(Buffer.from('a306', 'hex')), /wire type 3/);
});

test.run();
