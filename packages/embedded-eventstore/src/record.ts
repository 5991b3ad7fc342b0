/**
 * The record of one event in the log: a fixed header for the server's own use (filters, age, the
 * commit check, links), followed by the complete `ReadResp` message that a read sends. A read
 * therefore copies bytes and encodes nothing.
 */
import {
  fieldSize,
  readUint64,
  readVarint,
  varintSize,
  writeBytesField,
  writeFieldHeader,
  writeUint64,
  writeVarint,
} from './wire.ts';

/** Revision of the `$streamDeleted` event: 2^63 - 1, beyond what a JS number can hold. */
export const TOMBSTONE_REVISION = 9223372036854775807n;

const HEADER_BYTES = 42;
const FLAG_JSON = 1;
const FLAG_LINK = 2;
const FLAG_TOMBSTONE = 4;

const TAG_RESPONSE_EVENT = 0x0a;
const TAG_EVENT = 0x0a;
const TAG_LINK = 0x12;
const TAG_EVENT_COMMIT_POSITION = 0x18;
const TAG_ID = 0x0a;
const TAG_STREAM = 0x12;
const TAG_REVISION = 0x18;
const TAG_PREPARE = 0x20;
const TAG_COMMIT = 0x28;
const TAG_METADATA_ENTRY = 0x32;
const TAG_CUSTOM_METADATA = 0x3a;
const TAG_DATA = 0x42;
const TAG_UUID_STRING = 0x12;
const TAG_STREAM_NAME = 0x1a;
const TAG_KEY = 0x0a;
const TAG_VALUE = 0x12;

const UUID_CHARACTERS = 36;
const TOMBSTONE_VARINT = Buffer.from('ffffffffffffffff7f', 'hex');

const metadataEntry = (key: string, value: string): Buffer => {
  const inner = Buffer.concat([
    Buffer.from([TAG_KEY, key.length]),
    Buffer.from(key),
    Buffer.from([TAG_VALUE, value.length]),
    Buffer.from(value),
  ]);
  return Buffer.concat([Buffer.from([TAG_METADATA_ENTRY, inner.length]), inner]);
};

const JSON_ENTRY = metadataEntry('content-type', 'application/json');
const BINARY_ENTRY = metadataEntry('content-type', 'application/octet-stream');
const TYPE_KEY = Buffer.concat([Buffer.from([TAG_KEY, 4]), Buffer.from('type')]);
const CREATED_KEY = Buffer.concat([Buffer.from([TAG_KEY, 7]), Buffer.from('created')]);

/** An event as a client proposes it, already validated. `id` is a lower-case UUID. */
export interface ProposedEvent {
  readonly id: string;
  readonly type: string;
  readonly isJson: boolean;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
}

/** The place of a proposed event. `createdAt` is milliseconds since 1970. */
export interface Placement {
  readonly streamName: Buffer;
  readonly streamId: number;
  readonly revision: number | typeof TOMBSTONE_REVISION;
  readonly position: number;
  readonly createdAt: number;
}

/** Encodes one event for the log; the result is also what reads send, behind the header. */
export function encodeRecord(event: ProposedEvent, placement: Placement): Buffer {
  const { streamName, revision, position } = placement;
  const tombstone = typeof revision === 'bigint';
  const typeBytes = Buffer.from(event.type);
  const created = `${placement.createdAt}0000`;
  const contentEntry = event.isJson ? JSON_ENTRY : BINARY_ENTRY;

  const streamSize = fieldSize(streamName.length);
  const typeEntrySize = TYPE_KEY.length + fieldSize(typeBytes.length);
  const createdEntrySize = CREATED_KEY.length + fieldSize(created.length);
  const revisionSize = tombstone ? TOMBSTONE_VARINT.length : varintSize(revision);
  const positionSize = varintSize(position);
  const recordedSize =
    fieldSize(fieldSize(UUID_CHARACTERS)) +
    fieldSize(streamSize) +
    1 +
    revisionSize +
    2 * (1 + positionSize) +
    fieldSize(typeEntrySize) +
    fieldSize(createdEntrySize) +
    contentEntry.length +
    (event.metadata.length > 0 ? fieldSize(event.metadata.length) : 0) +
    fieldSize(event.data.length);
  const readEventSize = fieldSize(recordedSize) + 1 + positionSize;

  const record = Buffer.allocUnsafe(HEADER_BYTES + fieldSize(readEventSize));
  let at = writeFieldHeader(record, TAG_RESPONSE_EVENT, readEventSize, HEADER_BYTES);
  at = writeFieldHeader(record, TAG_EVENT, recordedSize, at);
  at = writeFieldHeader(record, TAG_ID, fieldSize(UUID_CHARACTERS), at);
  at = writeFieldHeader(record, TAG_UUID_STRING, UUID_CHARACTERS, at);
  at += record.write(event.id, at, 'latin1');
  at = writeFieldHeader(record, TAG_STREAM, streamSize, at);
  at = writeBytesField(record, TAG_STREAM_NAME, streamName, at);
  const streamNameOffset = at - streamName.length;
  record[at++] = TAG_REVISION;
  if (tombstone) at += TOMBSTONE_VARINT.copy(record, at);
  else at = writeVarint(record, revision, at);
  record[at++] = TAG_PREPARE;
  at = writeVarint(record, position, at);
  record[at++] = TAG_COMMIT;
  at = writeVarint(record, position, at);
  at = writeFieldHeader(record, TAG_METADATA_ENTRY, typeEntrySize, at);
  at += TYPE_KEY.copy(record, at);
  at = writeBytesField(record, TAG_VALUE, typeBytes, at);
  const typeOffset = at - typeBytes.length;
  at = writeFieldHeader(record, TAG_METADATA_ENTRY, createdEntrySize, at);
  at += CREATED_KEY.copy(record, at);
  at = writeFieldHeader(record, TAG_VALUE, created.length, at);
  at += record.write(created, at, 'latin1');
  at += contentEntry.copy(record, at);
  if (event.metadata.length > 0) {
    at = writeBytesField(record, TAG_CUSTOM_METADATA, event.metadata, at);
  }
  at = writeBytesField(record, TAG_DATA, event.data, at);
  const dataOffset = at - event.data.length;
  record[at++] = TAG_EVENT_COMMIT_POSITION;
  writeVarint(record, position, at);

  writeHeader(record, event, placement, {
    streamNameOffset,
    typeOffset,
    typeLength: typeBytes.length,
    dataOffset,
    tombstone,
  });
  return record;
}

interface HeaderParts {
  readonly streamNameOffset: number;
  readonly typeOffset: number;
  readonly typeLength: number;
  readonly dataOffset: number;
  readonly tombstone: boolean;
}

// Layout, big-endian: flags u8, zero u8, stream name offset u16 and length u16, type offset u16
// and length u16, stream id u32, created u64, event id 16 bytes, data offset u32. The data ends
// where the recorded event ends, so its length needs no field.
function writeHeader(
  record: Buffer,
  event: ProposedEvent,
  placement: Placement,
  parts: HeaderParts,
): void {
  const flags =
    (event.isJson ? FLAG_JSON : 0) |
    (event.type === '$>' ? FLAG_LINK : 0) |
    (parts.tombstone ? FLAG_TOMBSTONE : 0);
  record[0] = flags;
  record[1] = 0;
  record.writeUInt16BE(parts.streamNameOffset, 2);
  record.writeUInt16BE(placement.streamName.length, 4);
  record.writeUInt16BE(parts.typeOffset, 6);
  record.writeUInt16BE(parts.typeLength, 8);
  record.writeUInt32BE(placement.streamId, 10);
  writeUint64(record, placement.createdAt, 14);
  record.write(event.id.replaceAll('-', ''), 22, 16, 'hex');
  record.writeUInt32BE(parts.dataOffset, 38);
}

/** The `ReadResp` message for this event as it goes over the wire. Shares the record's memory. */
export function responseOf(record: Buffer): Buffer {
  return record.subarray(HEADER_BYTES);
}

/** The offset behind a record that begins at this offset of a buffer. */
export function recordEnd(buffer: Buffer, offset: number): number {
  const { value, next } = readVarint(buffer, offset + HEADER_BYTES + 1);
  return next + value;
}

/** The number of the stream that the event belongs to. */
export function streamIdOf(record: Buffer): number {
  return record.readUInt32BE(10);
}

/** Tells whether the event deleted its stream for ever; it has no revision that counts. */
export function isTombstone(record: Buffer): boolean {
  return ((record[0] ?? 0) & FLAG_TOMBSTONE) !== 0;
}

/** The event id as a lower-case UUID. */
export function eventIdOf(record: Buffer): string {
  const hex = record.toString('hex', 22, 38);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** The time at which the event was written, in milliseconds since 1970. */
export function createdAtOf(record: Buffer): number {
  return readUint64(record, 14);
}

/** Bytes of the stream name. Shares the record's memory. */
export function streamNameOf(record: Buffer): Buffer {
  const offset = record.readUInt16BE(2);
  return record.subarray(offset, offset + record.readUInt16BE(4));
}

/** Bytes of the event type. Shares the record's memory. */
export function typeOf(record: Buffer): Buffer {
  const offset = record.readUInt16BE(6);
  return record.subarray(offset, offset + record.readUInt16BE(8));
}

/** Tells whether the event is a link (`$>`) to another event. */
export function isLink(record: Buffer): boolean {
  return ((record[0] ?? 0) & FLAG_LINK) !== 0;
}

/** Tells whether the event was written with content type `application/json`. */
export function isJson(record: Buffer): boolean {
  return ((record[0] ?? 0) & FLAG_JSON) !== 0;
}

/** Bytes of the event data. Shares the record's memory. */
export function dataOf(record: Buffer): Buffer {
  const offset = record.readUInt32BE(38);
  const { recorded } = spansOf(record);
  return record.subarray(offset, recorded.end);
}

/** The `ReadResp` for a link: the link itself and, when it still exists, the event it points to. */
export function linkResponseOf(link: Buffer, target: Buffer | undefined): Buffer {
  const linkSpans = spansOf(link);
  const linkBytes = link.subarray(linkSpans.recorded.start, linkSpans.recorded.end);
  const commit = link.subarray(linkSpans.recorded.end);
  const targetSpan = target === undefined ? undefined : spansOf(target).recorded;
  const targetBytes = targetSpan && target?.subarray(targetSpan.start, targetSpan.end);
  const size =
    (targetBytes ? fieldSize(targetBytes.length) : 0) + fieldSize(linkBytes.length) + commit.length;
  const response = Buffer.allocUnsafe(fieldSize(size));
  let at = writeFieldHeader(response, TAG_RESPONSE_EVENT, size, 0);
  if (targetBytes) at = writeBytesField(response, TAG_EVENT, targetBytes, at);
  at = writeBytesField(response, TAG_LINK, linkBytes, at);
  response.set(commit, at);
  return response;
}

/** Finds the `RecordedEvent` bytes inside the record. */
function spansOf(record: Buffer): { recorded: { start: number; end: number } } {
  const outer = readVarint(record, HEADER_BYTES + 1);
  const inner = readVarint(record, outer.next + 1);
  return { recorded: { start: inner.next, end: inner.next + inner.value } };
}
