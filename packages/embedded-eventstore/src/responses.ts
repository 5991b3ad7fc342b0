/** The small messages of a read or subscription, encoded by hand like the events themselves. */
import { fieldSize, varintSize, writeBytesField, writeFieldHeader, writeVarint } from './wire.ts';

const TAG_CONFIRMATION = 0x12;
const TAG_CHECKPOINT = 0x1a;
const TAG_STREAM_NOT_FOUND = 0x22;
const TAG_CAUGHT_UP = 0x42;
const TAG_FIRST = 0x0a;
const TAG_COMMIT = 0x08;
const TAG_PREPARE = 0x10;
const TAG_STREAM_NAME = 0x1a;

/** Tells the subscriber that catch-up has ended. */
export const CAUGHT_UP = Buffer.from([TAG_CAUGHT_UP, 0]);

/** First message of a subscription. */
export function confirmation(subscriptionId: string): Buffer {
  const id = Buffer.from(subscriptionId);
  const response = Buffer.allocUnsafe(fieldSize(fieldSize(id.length)));
  const at = writeFieldHeader(response, TAG_CONFIRMATION, fieldSize(id.length), 0);
  writeBytesField(response, TAG_FIRST, id, at);
  return response;
}

/** A place of the log: (p, p) is right after the event at p, (p, 0) before whatever is at p. */
export interface CheckpointPlace {
  readonly commit: number;
  readonly prepare: number;
}

/** Tells a filtered subscriber up to which place the log was considered. */
export function checkpoint({ commit, prepare }: CheckpointPlace): Buffer {
  const size = 2 + varintSize(commit) + varintSize(prepare);
  const response = Buffer.allocUnsafe(fieldSize(size));
  let at = writeFieldHeader(response, TAG_CHECKPOINT, size, 0);
  response[at++] = TAG_COMMIT;
  at = writeVarint(response, commit, at);
  response[at++] = TAG_PREPARE;
  writeVarint(response, prepare, at);
  return response;
}

/** The answer to a read of a stream that has no events or was soft-deleted. */
export function streamNotFound(streamName: string): Buffer {
  const name = Buffer.from(streamName);
  const inner = fieldSize(name.length);
  const response = Buffer.allocUnsafe(fieldSize(fieldSize(inner)));
  let at = writeFieldHeader(response, TAG_STREAM_NOT_FOUND, fieldSize(inner), 0);
  at = writeFieldHeader(response, TAG_FIRST, inner, at);
  writeBytesField(response, TAG_STREAM_NAME, name, at);
  return response;
}
