import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { streamMessages } from './protocol.ts';
import {
  createdAtOf,
  dataOf,
  encodeRecord,
  eventIdOf,
  isJson,
  isLink,
  linkResponseOf,
  type Placement,
  type ProposedEvent,
  responseOf,
  streamNameOf,
  TOMBSTONE_REVISION,
  typeOf,
} from './record.ts';
import { CAUGHT_UP, checkpoint, confirmation, streamNotFound } from './responses.ts';
import { readUint64, readVarint, varintSize, writeUint64, writeVarint } from './wire.ts';

const test = suite('record');

const event: ProposedEvent = {
  id: '0f8fad5b-d9cb-469f-a165-70867728950e',
  type: 'Posted €',
  isJson: true,
  data: Buffer.from('{"amount":"12.00"}'),
  metadata: Buffer.from('{"tenant":"t"}'),
};
const placement: Placement = {
  streamName: Buffer.from('ledger-ü.1'),
  streamId: 7,
  revision: 300,
  position: 2 ** 52 + 5,
  createdAt: 1_700_000_000_123,
};

const decode = (bytes: Uint8Array) => streamMessages.ReadResp.deserializeBinary(bytes);

test('sends what the generated classes read', () => {
  const read = decode(responseOf(encodeRecord(event, placement))).getEvent();
  const recorded = read?.getEvent();
  assert.is(read?.getCommitPosition(), String(placement.position));
  assert.not(read?.hasLink());
  assert.is(recorded?.getId()?.getString(), event.id);
  assert.equal(
    Buffer.from(recorded?.getStreamIdentifier()?.getStreamName_asU8() ?? []),
    placement.streamName,
  );
  assert.is(recorded?.getStreamRevision(), '300');
  assert.is(recorded?.getPreparePosition(), String(placement.position));
  assert.is(recorded?.getCommitPosition(), String(placement.position));
  assert.equal(Object.fromEntries(recorded?.getMetadataMap().entries() ?? []), {
    type: 'Posted €',
    created: '17000000001230000',
    'content-type': 'application/json',
  });
  assert.equal(Buffer.from(recorded?.getData_asU8() ?? []), event.data);
  assert.equal(Buffer.from(recorded?.getCustomMetadata_asU8() ?? []), event.metadata);
});

test('keeps what the server itself needs in front', () => {
  const record = encodeRecord(event, placement);
  assert.is(eventIdOf(record), event.id);
  assert.is(createdAtOf(record), placement.createdAt);
  assert.is(streamNameOf(record).toString(), 'ledger-ü.1');
  assert.is(typeOf(record).toString(), 'Posted €');
  assert.is(dataOf(record).toString(), '{"amount":"12.00"}');
  assert.ok(isJson(record));
  assert.not(isLink(record));
});

test('encodes events of every size', () => {
  for (const size of [0, 1, 127, 128, 16_383, 16_384, 2_097_152]) {
    const data = Buffer.alloc(size, 0x61);
    const binary = { ...event, isJson: false, data, metadata: Buffer.alloc(size, 0x62) };
    const record = encodeRecord(binary, { ...placement, revision: 0, position: 1 });
    const recorded = decode(responseOf(record)).getEvent()?.getEvent();
    assert.is(recorded?.getData_asU8().length, size);
    assert.is(recorded?.getCustomMetadata_asU8().length, size);
    assert.is(recorded?.getMetadataMap().get('content-type'), 'application/octet-stream');
    assert.is(recorded?.getStreamRevision(), '0');
    assert.is(dataOf(record).length, size);
    assert.not(isJson(record));
  }
});

test('gives a tombstone the largest revision', () => {
  const record = encodeRecord(event, { ...placement, revision: TOMBSTONE_REVISION });
  const recorded = decode(responseOf(record)).getEvent()?.getEvent();
  assert.is(recorded?.getStreamRevision(), '9223372036854775807');
  assert.is(recorded?.getCommitPosition(), String(placement.position));
});

test('sends a link with and without its target', () => {
  const link = encodeRecord(
    { ...event, type: '$>', data: Buffer.from('300@ledger-ü.1') },
    placement,
  );
  const target = encodeRecord(event, { ...placement, position: 9 });
  assert.ok(isLink(link));
  const resolved = decode(linkResponseOf(link, target)).getEvent();
  assert.is(resolved?.getEvent()?.getCommitPosition(), '9');
  assert.is(resolved?.getLink()?.getMetadataMap().get('type'), '$>');
  assert.is(resolved?.getCommitPosition(), String(placement.position));
  const broken = decode(linkResponseOf(link, undefined)).getEvent();
  assert.not(broken?.hasEvent());
  assert.ok(broken?.hasLink());
  assert.is(broken?.getCommitPosition(), String(placement.position));
});

test('encodes the small messages', () => {
  assert.is(decode(confirmation('some id')).getConfirmation()?.getSubscriptionId(), 'some id');
  assert.is(
    decode(checkpoint({ commit: 2 ** 40, prepare: 0 }))
      .getCheckpoint()
      ?.getCommitPosition(),
    String(2 ** 40),
  );
  assert.is(
    decode(checkpoint({ commit: 7, prepare: 5 }))
      .getCheckpoint()
      ?.getPreparePosition(),
    '5',
  );
  assert.ok(decode(CAUGHT_UP).hasCaughtUp());
  const name = decode(streamNotFound('ü')).getStreamNotFound()?.getStreamIdentifier();
  assert.is(Buffer.from(name?.getStreamName_asU8() ?? []).toString(), 'ü');
});

test('round-trips integers up to the largest safe one', () => {
  for (const value of [0, 1, 127, 128, 2 ** 31, 2 ** 32, 2 ** 32 + 1, Number.MAX_SAFE_INTEGER]) {
    const bytes = Buffer.alloc(10);
    const end = writeVarint(bytes, value, 0);
    assert.is(end, varintSize(value));
    assert.equal(readVarint(bytes, 0), { value, next: end });
    writeUint64(bytes, value, 1);
    assert.is(readUint64(bytes, 1), value);
    assert.is(bytes.readBigUInt64BE(1), BigInt(value));
  }
});

test('refuses a varint that is cut off', () => {
  assert.throws(() => readVarint(Buffer.from([0x80]), 0), RangeError);
});

test.run();
