import sharedMessages from '@eventstore/db-client/generated/shared_pb.js';
import streamMessages from '@eventstore/db-client/generated/streams_pb.js';
import emptyMessages from 'google-protobuf/google/protobuf/empty_pb.js';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { appendMessage, readAppendAnswer } from './append-message.ts';
import { MessageGroup } from './message-group.ts';
import type { OutgoingAppend } from './outgoing-append.ts';

const test = suite('append-message');
const { BatchAppendReq, BatchAppendResp } = streamMessages;
const ids = ['6f1a1f0e-6c7e-4a53-9f1c-3a2d5f0b7c11', '6f1a1f0e-6c7e-4a53-9f1c-3a2d5f0b7c12'];

/** The message as the client's own classes read it: the counterpart of this coding. */
function readBack(append: OutgoingAppend, number: number, deadline: number) {
  const message = BatchAppendReq.deserializeBinary(appendMessage(append, number, deadline));
  const options = message.getOptions();
  return {
    correlation: message.getCorrelationId()?.getString(),
    isFinal: message.getIsFinal(),
    stream: Buffer.from(options?.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString(),
    revision: options?.hasStreamPosition() ? options.getStreamPosition() : null,
    isNew: options?.hasNoStream(),
    deadline: options?.getDeadline()?.toDate().getTime(),
    events: message.getProposedMessagesList().map((event) => ({
      id: event.getId()?.getString(),
      type: event.getMetadataMap().get('type'),
      contentType: event.getMetadataMap().get('content-type'),
      data: Buffer.from(event.getData_asU8()).toString(),
      metadata: Buffer.from(event.getCustomMetadata_asU8()).toString(),
    })),
  };
}

for (const [revision, number, length] of [
  [-1, 1, 0],
  [0, 255, 100],
  [127, 2 ** 32, 127],
  [128, 2 ** 48 - 1, 128],
  [2 ** 40, 7, 70_000],
] as const) {
  test(`an append after revision ${revision} with ${length} characters says what it is`, () => {
    const events = ids.map((id) => ({
      id,
      type: 'CreditsGranted',
      data: JSON.stringify({ note: 'é😀'.repeat(length) }),
      metadata: JSON.stringify({ hash: 'x'.repeat(length) }),
    }));
    const stream = 'wallet-env_1.w1';
    const append = { stream, events, expectedRevision: revision, bytes: 0 };
    const deadline = 1_767_225_600_123;
    assert.equal(readBack(append, number, deadline), {
      correlation: `00000000-0000-0000-0000-${number.toString(16).padStart(12, '0')}`,
      isFinal: true,
      stream,
      revision: revision < 0 ? null : String(revision),
      isNew: revision < 0,
      deadline,
      events: events.map((event) => ({ ...event, contentType: 'application/json' })),
    });
  });
}

/** The bytes of an answer by the client's own classes, with the number in this form of a UUID. */
function answer(isText: boolean, hasPosition: boolean): Buffer {
  const response = new BatchAppendResp();
  const uuid = new sharedMessages.UUID();
  if (isText) uuid.setString('00000000-0000-0000-0000-00000000ffff');
  else {
    const halves = new sharedMessages.UUID.Structured();
    halves.setLeastSignificantBits('65535');
    uuid.setStructured(halves);
  }
  response.setCorrelationId(uuid);
  const stream = new sharedMessages.StreamIdentifier();
  stream.setStreamName(Buffer.from('wallet-env_1.w1'));
  response.setStreamIdentifier(stream);
  const success = new BatchAppendResp.Success();
  success.setCurrentRevision('0');
  if (hasPosition) {
    const position = new sharedMessages.AllStreamPosition();
    position.setCommitPosition('300');
    position.setPreparePosition('300');
    success.setPosition(position);
  } else success.setNoPosition(new emptyMessages.Empty());
  return Buffer.from(response.setSuccess(success).serializeBinary());
}

test('an answer says which append it is about, and its place', () => {
  const appended = { revision: 0, position: 601n };
  for (const isText of [true, false]) {
    assert.equal(readAppendAnswer(answer(isText, true)), { correlation: 65_535, appended });
  }
  assert.is(readAppendAnswer(answer(true, false)).appended, null);
});

test('a group writes its messages one behind the other, each with its header', () => {
  const group = new MessageGroup([Buffer.from('one'), Buffer.from('three')]);
  const target = Buffer.alloc(group.length + 5);
  group.copy(target, 5);
  assert.is(target.toString('latin1'), '\0\0\0\0\x03one\0\0\0\0\x05three');
  assert.throws(() => group.copy(Buffer.alloc(group.length), 0), 'no longer frames');
});

test.run();
