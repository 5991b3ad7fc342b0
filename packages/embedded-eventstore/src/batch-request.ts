/**
 * The messages of the BatchAppend call, read without an object for each part of them: appends come by the
 * thousand a second, and the generated classes took longer than all the rest of an append.
 */
import type { ExpectedRevision } from './commit-check.ts';
import {
  checkedUuid,
  exactRevision,
  type ProposalParts,
  type ProposalProblem,
  proposalOf,
  structuredUuid,
} from './proposed-event.ts';
import type { ProposedEvent } from './record.ts';
import { readVarint } from './wire.ts';

/** One message of the call. */
export interface BatchMessage {
  /** The UUID of the append as a text; undefined when there is none. */
  readonly key: string | undefined;
  /** The bytes of the same, for the answer. */
  readonly correlation: Buffer;
  /** Present in the first message of an append. */
  readonly options: BatchOptions | undefined;
  readonly events: readonly (ProposedEvent | ProposalProblem)[];
  readonly isFinal: boolean;
}

/** The target of an append, as the client named it. */
export interface BatchOptions {
  readonly streamName: string;
  /** Undefined when there is none, or one that no stream can have. */
  readonly expected: ExpectedRevision | undefined;
  /** Milliseconds since 1970; undefined when the client set no deadline. */
  readonly deadline: number | undefined;
}

/** Numbers of fields (streams.proto, shared.proto, timestamp.proto). */
const REQUEST = { correlation: 1, options: 2, event: 3, isFinal: 4 } as const;
const OPTION = { stream: 1, revision: 2, noStream: 3, any: 4, exists: 5, deadline: 6 } as const;
const PROPOSED = { id: 1, property: 2, metadata: 3, data: 4 } as const;
const STREAM_NAME = 3;
const UUID = { structured: 1, text: 2 } as const;
const FIRST = 1;
const SECOND = 2;

const EMPTY = Buffer.alloc(0);

/** The fields of a message, one after the other. Throws a RangeError on bytes that are no message. */
class Fields {
  number = 0;
  /** The beginning of the field's bytes, or of its number. */
  start: number;
  end: number;
  readonly bytes: Buffer;
  readonly #limit: number;

  constructor(bytes: Buffer, start = 0, end = bytes.length) {
    this.bytes = bytes;
    this.start = start;
    this.end = start;
    this.#limit = end;
  }

  /** Moves to the next field; false at the end. */
  next(): boolean {
    if (this.end >= this.#limit) return false;
    const tag = this.#number();
    this.number = Math.floor(tag / 8);
    const kind = tag % 8;
    if (kind === 2) {
      const length = this.#number();
      this.start = this.end;
      this.end += length;
    } else {
      this.start = this.end;
      if (kind === 0) this.#number();
      else this.end += fixedLength(kind);
    }
    if (this.end > this.#limit) throw new RangeError('a field runs past the end of its message');
    return true;
  }

  /** The field as a message. */
  message(): Fields {
    return new Fields(this.bytes, this.start, this.end);
  }

  text(): string {
    return this.bytes.toString('utf8', this.start, this.end);
  }

  content(): Buffer {
    return this.bytes.subarray(this.start, this.end);
  }

  /** The field as a number below 2^53. */
  value(): number {
    return readVarint(this.bytes, this.start).value;
  }

  /** The field as an unsigned number of 64 bits. */
  bigValue(): bigint {
    let value = 0n;
    for (let at = this.end - 1; at >= this.start; at -= 1) {
      value = value * 128n + BigInt((this.bytes[at] ?? 0) & 0x7f);
    }
    return BigInt.asUintN(64, value);
  }

  #number(): number {
    const { bytes } = this;
    let value = 0;
    let factor = 1;
    for (;;) {
      const byte = bytes[this.end++];
      if (byte === undefined) throw new RangeError('a number runs past the end of its message');
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
      factor *= 0x80;
    }
  }
}

function fixedLength(kind: number): number {
  if (kind === 1) return 8;
  if (kind === 5) return 4;
  throw new RangeError(`a field of wire type ${kind}`);
}

/** Reads a message of the call. Throws a RangeError on bytes that are none. */
export function readBatchMessage(bytes: Buffer): BatchMessage {
  const fields = new Fields(bytes);
  let key: string | undefined;
  let correlation: Buffer = EMPTY;
  let options: BatchOptions | undefined;
  const events: (ProposedEvent | ProposalProblem)[] = [];
  let isFinal = false;
  while (fields.next()) {
    if (fields.number === REQUEST.event) events.push(eventIn(fields.message()));
    else if (fields.number === REQUEST.options) options = optionsIn(fields.message());
    else if (fields.number === REQUEST.isFinal) isFinal = fields.value() > 0;
    else if (fields.number === REQUEST.correlation) {
      key = uuidIn(fields.message());
      correlation = fields.content();
    }
  }
  return { key, correlation, options, events, isFinal };
}

function uuidIn(fields: Fields): string | undefined {
  let uuid: string | undefined;
  while (fields.next()) {
    if (fields.number === UUID.text) uuid = checkedUuid(fields.text());
    else if (fields.number === UUID.structured) uuid = structuredIn(fields.message());
  }
  return uuid;
}

function structuredIn(fields: Fields): string {
  let [most, least] = [0n, 0n];
  while (fields.next()) {
    if (fields.number === FIRST) most = fields.bigValue();
    else if (fields.number === SECOND) least = fields.bigValue();
  }
  return structuredUuid(most, least);
}

function optionsIn(fields: Fields): BatchOptions {
  let streamName = '';
  let expected: ExpectedRevision | undefined;
  let deadline: number | undefined;
  while (fields.next()) {
    if (fields.number === OPTION.stream) streamName = streamNameIn(fields.message());
    else if (fields.number === OPTION.deadline) deadline = timestampIn(fields.message());
    else if (fields.number >= OPTION.revision && fields.number <= OPTION.exists) {
      expected = expectedIn(fields);
    }
  }
  return { streamName, expected, deadline };
}

function expectedIn(field: Fields): ExpectedRevision | undefined {
  if (field.number === OPTION.noStream) return 'no_stream';
  if (field.number === OPTION.any) return 'any';
  if (field.number === OPTION.exists) return 'stream_exists';
  return exactRevision(field.bigValue());
}

function streamNameIn(fields: Fields): string {
  let name = '';
  while (fields.next()) if (fields.number === STREAM_NAME) name = fields.text();
  return name;
}

function timestampIn(fields: Fields): number {
  let milliseconds = 0;
  while (fields.next()) {
    if (fields.number === FIRST) milliseconds += fields.value() * 1_000;
    else if (fields.number === SECOND) milliseconds += Math.floor(fields.value() / 1_000_000);
  }
  return milliseconds;
}

function eventIn(fields: Fields): ProposedEvent | ProposalProblem {
  const parts: ProposalParts = {
    id: undefined,
    type: undefined,
    contentType: undefined,
    data: EMPTY,
    metadata: EMPTY,
  };
  while (fields.next()) {
    if (fields.number === PROPOSED.id) parts.id = uuidIn(fields.message());
    else if (fields.number === PROPOSED.property) addProperty(parts, fields.message());
    else if (fields.number === PROPOSED.metadata) parts.metadata = fields.content();
    else if (fields.number === PROPOSED.data) parts.data = fields.content();
  }
  return proposalOf(parts);
}

function addProperty(parts: ProposalParts, fields: Fields): void {
  let [name, value] = ['', ''];
  while (fields.next()) {
    if (fields.number === FIRST) name = fields.text();
    else if (fields.number === SECOND) value = fields.text();
  }
  if (name === 'type') parts.type = value;
  else if (name === 'content-type') parts.contentType = value;
}
