import type { OutgoingAppend, OutgoingEvent } from './outgoing-append.ts';
import { atEvent } from './position.ts';
import type { Appended } from './types.ts';
import { WireFields } from './wire-fields.ts';

/** Tags of the fields of `BatchAppendReq` (streams.proto, shared.proto): number of the field, kind of value. */
const bytesField = (number: number): number => number * 8 + 2;
const numberField = (number: number): number => number * 8;
const request = {
  correlation: bytesField(1),
  options: bytesField(2),
  event: bytesField(3),
  isFinal: numberField(4),
};
const option = {
  stream: bytesField(1),
  revision: numberField(2),
  noStream: bytesField(3),
  deadline: bytesField(6),
};
const timestamp = { seconds: numberField(1), nanoseconds: numberField(2) };
const proposed = {
  id: bytesField(1),
  property: bytesField(2),
  metadata: bytesField(3),
  data: bytesField(4),
};
const property = { key: bytesField(1), value: bytesField(2) };
const uuidText = bytesField(2);
const streamName = bytesField(3);

const uuidLength = 36;
/** Bytes of a UUID as text, with the tags and lengths around it. */
const uuidBytes = 2 + 2 + uuidLength;

/**
 * The `BatchAppendReq` of EventStoreDB's protocol for an append, in one message. The client would make
 * objects of all of it first, which took longer than everything else about an append (ADR 16).
 *
 * @param correlation a whole number up to 2^48 by which the answer is recognised
 * @param deadline milliseconds since 1970 after which the server refuses the append
 */
export function appendMessage(
  { stream, events, expectedRevision }: OutgoingAppend,
  correlation: number,
  deadline: number,
): Buffer {
  const sized = events.map(sizedEvent);
  const name = Buffer.from(stream);
  const time = [Math.floor(deadline / 1_000), (deadline % 1_000) * 1_000_000] as const;
  const timeLength = 2 + varintLength(time[0]) + varintLength(time[1]);
  const revision = expectedRevision < 0 ? 2 : 1 + varintLength(expectedRevision);
  const optionsLength = fieldLength(fieldLength(name.length)) + revision + fieldLength(timeLength);
  const eventsLength = sized.reduce((sum, { length }) => sum + fieldLength(length), 0);
  const writer = new Writer(uuidBytes + fieldLength(optionsLength) + eventsLength + 2);
  writer.uuid(request.correlation, uuidOf(correlation));
  writer.head(request.options, optionsLength);
  writer.head(option.stream, fieldLength(name.length));
  writer.bytes(streamName, name);
  if (expectedRevision < 0) writer.head(option.noStream, 0);
  else writer.number(option.revision, expectedRevision);
  writer.head(option.deadline, timeLength);
  writer.number(timestamp.seconds, time[0]);
  writer.number(timestamp.nanoseconds, time[1]);
  for (const event of sized) addEvent(writer, event);
  writer.number(request.isFinal, 1);
  return writer.buffer;
}

/** The UUID that ends with a number. */
const uuidOf = (number: number): string =>
  `00000000-0000-0000-0000-${number.toString(16).padStart(12, '0')}`;

interface SizedEvent {
  readonly event: OutgoingEvent;
  readonly type: Buffer;
  readonly data: number;
  readonly metadata: number;
  /** Bytes of the whole message. */
  readonly length: number;
}

const typeKey = Buffer.from('type');
const contentTypeKey = Buffer.from('content-type');
const json = Buffer.from('application/json');

const propertyLength = (key: Buffer, value: Buffer): number =>
  fieldLength(key.length) + fieldLength(value.length);

function sizedEvent(event: OutgoingEvent): SizedEvent {
  const type = Buffer.from(event.type);
  const data = Buffer.byteLength(event.data);
  const metadata = Buffer.byteLength(event.metadata);
  const properties =
    fieldLength(propertyLength(typeKey, type)) + fieldLength(propertyLength(contentTypeKey, json));
  const length = uuidBytes + properties + fieldLength(metadata) + fieldLength(data);
  return { event, type, data, metadata, length };
}

function addEvent(writer: Writer, { event, type, data, metadata, length }: SizedEvent): void {
  writer.head(request.event, length);
  writer.uuid(proposed.id, event.id);
  for (const [key, value] of [
    [typeKey, type],
    [contentTypeKey, json],
  ] as const) {
    writer.head(proposed.property, propertyLength(key, value));
    writer.bytes(property.key, key);
    writer.bytes(property.value, value);
  }
  writer.text(proposed.metadata, event.metadata, metadata);
  writer.text(proposed.data, event.data, data);
}

/** Writes the fields of a message whose length is known. */
class Writer {
  readonly buffer: Buffer;
  #at = 0;

  constructor(length: number) {
    this.buffer = Buffer.allocUnsafe(length);
  }

  /** Tag and length of a field, whose content comes next. */
  head(tag: number, length: number): void {
    this.number(tag, length);
  }

  number(tag: number, value: number): void {
    this.buffer[this.#at++] = tag;
    let rest = value;
    while (rest >= 0x80) {
      this.buffer[this.#at++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.buffer[this.#at++] = rest;
  }

  bytes(tag: number, content: Buffer): void {
    this.head(tag, content.length);
    this.#at += content.copy(this.buffer, this.#at);
  }

  /** A text of so many bytes in UTF-8. */
  text(tag: number, content: string, length: number): void {
    this.head(tag, length);
    this.#at += this.buffer.write(content, this.#at);
  }

  /** A message with a UUID as text. */
  uuid(tag: number, id: string): void {
    this.head(tag, 2 + uuidLength);
    this.text(uuidText, id, uuidLength);
  }
}

/** Bytes of a whole number from 0 to 2^53 in groups of seven bits. */
function varintLength(value: number): number {
  let length = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) length += 1;
  return length;
}

const fieldLength = (length: number): number => 1 + varintLength(length) + length;

/** The answer to an append. */
export interface AppendAnswer {
  /** The number that came with the append. */
  readonly correlation: number;
  /** The place of the last event; null for a refusal. */
  readonly appended: Appended | null;
}

/** Numbers of the fields of `BatchAppendResp`. */
const response = { correlation: 1, success: 3 } as const;
const success = { revision: 1, position: 3 } as const;
const uuid = { structured: 1, text: 2 } as const;
const leastSignificantBits = 2;
const commitPosition = 1;

/** Reads a `BatchAppendResp`. Throws a RangeError on bytes that are no such message. */
export function readAppendAnswer(bytes: Buffer): AppendAnswer {
  const fields = new WireFields(bytes);
  let correlation = 0;
  let appended: Appended | null = null;
  while (fields.next()) {
    if (fields.number === response.correlation) correlation = numberIn(fields.message());
    else if (fields.number === response.success) appended = appendedIn(fields.message());
  }
  return { correlation, appended };
}

function appendedIn(fields: WireFields): Appended | null {
  let revision = 0;
  let position: Appended['position'] | null = null;
  while (fields.next()) {
    if (fields.number === success.revision) revision = fields.value;
    else if (fields.number === success.position) position = positionIn(fields.message());
  }
  return position === null ? null : { revision, position };
}

function positionIn(fields: WireFields): Appended['position'] {
  let commit = 0;
  while (fields.next()) if (fields.number === commitPosition) commit = fields.value;
  return atEvent(commit);
}

/** The number that a UUID ends with, in either form of it: servers answer with two numbers of 64 bits. */
function numberIn(fields: WireFields): number {
  while (fields.next()) {
    if (fields.number === uuid.text) return Number.parseInt(fields.text().slice(-12), 16);
    if (fields.number !== uuid.structured) continue;
    const halves = fields.message();
    while (halves.next()) if (halves.number === leastSignificantBits) return halves.value;
  }
  return 0;
}
