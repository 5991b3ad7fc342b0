import { WireFields } from './wire-fields.ts';

/** An event as the server sends it, with its data and metadata as the texts that were written. */
export interface WireEvent {
  readonly stream: string;
  readonly id: string;
  readonly revision: number;
  /** Null when the server does not send it. Exact up to 2^53. */
  readonly position: number | null;
  readonly type: string;
  readonly isJson: boolean;
  readonly data: string;
  readonly metadata: string;
}

/** The content of one message of a read or a subscription. */
export type ReadMessage =
  | { readonly kind: 'event'; readonly event: WireEvent }
  /** The filter has considered everything up to here: the event at `commit` too if the two are equal. */
  | { readonly kind: 'checkpoint'; readonly commit: number; readonly prepare: number }
  /** A subscription has begun. */
  | { readonly kind: 'confirmed' }
  /** Everything that was there has been sent. */
  | { readonly kind: 'caught_up' }
  /** Of no interest: that a stream does not exist, where it begins and ends. */
  | { readonly kind: 'other' };

/** Numbers of the fields of `ReadResp` and the messages in it (streams.proto, shared.proto). */
const response = { event: 1, confirmation: 2, checkpoint: 3, caughtUp: 8 } as const;
const resolved = { event: 1, commitPosition: 3 } as const;
const recorded = {
  id: 1,
  stream: 2,
  revision: 3,
  commitPosition: 5,
  properties: 6,
  metadata: 7,
  data: 8,
} as const;
const uuid = { text: 2 } as const;
const streamIdentifier = { name: 3 } as const;
const property = { name: 1, value: 2 } as const;
const checkpoint = { commit: 1, prepare: 2 } as const;

const other: ReadMessage = { kind: 'other' };

/**
 * Reads a `ReadResp` of EventStoreDB's protocol. The client would make objects of all of it, dates and
 * big numbers included, which took longer than all the rest of a read (ADR 16). Throws a RangeError on
 * bytes that are no such message.
 */
export function readMessage(bytes: Buffer): ReadMessage {
  const fields = new WireFields(bytes);
  while (fields.next()) {
    switch (fields.number) {
      case response.event:
        return resolvedEvent(fields.message());
      case response.confirmation:
        return { kind: 'confirmed' };
      case response.checkpoint:
        return checkpointIn(fields.message());
      case response.caughtUp:
        return { kind: 'caught_up' };
    }
  }
  return other;
}

function checkpointIn(fields: WireFields): ReadMessage {
  let [commit, prepare] = [0, 0];
  while (fields.next()) {
    if (fields.number === checkpoint.commit) commit = fields.value;
    else if (fields.number === checkpoint.prepare) prepare = fields.value;
  }
  return { kind: 'checkpoint', commit, prepare };
}

function resolvedEvent(fields: WireFields): ReadMessage {
  let event: WireFields | null = null;
  let position: number | null = null;
  while (fields.next()) {
    if (fields.number === resolved.event) event = fields.message();
    else if (fields.number === resolved.commitPosition) position = fields.value;
  }
  return event ? { kind: 'event', event: recordedEvent(event, position) } : other;
}

/** `at` is its place in the log, which the event itself may carry as well. */
function recordedEvent(fields: WireFields, at: number | null): WireEvent {
  let [stream, id, type, contentType, data, metadata] = ['', '', '', '', '', ''];
  let revision = 0;
  let position = at;
  while (fields.next()) {
    switch (fields.number) {
      case recorded.id:
        id = textIn(fields.message(), uuid.text);
        break;
      case recorded.stream:
        stream = textIn(fields.message(), streamIdentifier.name);
        break;
      case recorded.revision:
        revision = fields.value;
        break;
      case recorded.commitPosition:
        position ??= fields.value;
        break;
      case recorded.properties: {
        const name = textIn(fields.message(), property.name);
        if (name === 'type') type = textIn(fields.message(), property.value);
        if (name === 'content-type') contentType = textIn(fields.message(), property.value);
        break;
      }
      case recorded.metadata:
        metadata = fields.text();
        break;
      case recorded.data:
        data = fields.text();
        break;
    }
  }
  const isJson = contentType === 'application/json';
  return { stream, id, revision, position, type, isJson, data, metadata };
}

/** The text of one field of a message; empty when it is not there. */
function textIn(fields: WireFields, number: number): string {
  while (fields.next()) if (fields.number === number) return fields.text();
  return '';
}
