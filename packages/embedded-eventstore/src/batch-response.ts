/** The answers of the BatchAppend call: exactly one per correlation id. */
import type { BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js';
import { status } from '@grpc/grpc-js';
import anyMessages from 'google-protobuf/google/protobuf/any_pb.js';
import emptyMessages from 'google-protobuf/google/protobuf/empty_pb.js';
import type { ExpectedRevision } from './commit-check.ts';
import { limits } from './limits.ts';
import { sharedMessages, statusMessages, streamMessages } from './protocol.ts';
import type { AppendOutcome } from './store.ts';
import { fieldSize, varintSize, writeBytesField, writeFieldHeader } from './wire.ts';

/** The reason to refuse an append of the batch call. */
export type BatchProblem =
  | { readonly kind: 'timeout' }
  | { readonly kind: 'too-large' }
  | { readonly kind: 'too-busy' }
  | { readonly kind: 'bad-request'; readonly message: string };

interface Serializable {
  serializeBinary(): Uint8Array;
}

/** An append that is answered: the bytes of its UUID as the client sent it, and its stream. */
export interface Answered {
  readonly correlation: Buffer;
  readonly streamName: string;
}

/** Answers an append that was decided. */
export function outcomeResponse(
  append: Answered,
  expected: ExpectedRevision,
  outcome: AppendOutcome,
): Buffer {
  if (outcome.kind === 'success') return successResponse(append, outcome);
  const response = responseFor(append);
  if (outcome.kind === 'wrong-revision') {
    const detail = wrongVersion(outcome.lastRevision, expected);
    return fail(response, status.ALREADY_EXISTS, 'WrongExpectedVersion', detail);
  }
  const detail = new sharedMessages.StreamDeleted();
  detail.setStreamIdentifier(identifier(append.streamName));
  return fail(response, status.NOT_FOUND, 'StreamDeleted', detail);
}

/** Tags of the answer to an append that was written, the only one that is made often. */
const TAG_CORRELATION = 0x0a;
const TAG_SUCCESS = 0x1a;
const TAG_STREAM = 0x22;
const TAG_STREAM_NAME = 0x1a;
const TAG_CURRENT_REVISION = 0x08;
const TAG_NO_STREAM = 0x12;
const TAG_POSITION = 0x1a;
const TAG_NO_POSITION = 0x22;
const TAG_COMMIT = 0x08;
const TAG_PREPARE = 0x10;

function successResponse(
  { correlation, streamName }: Answered,
  { lastRevision, position }: AppendOutcome & { readonly kind: 'success' },
): Buffer {
  const name = Buffer.from(streamName);
  const revisionSize = lastRevision < 0 ? 2 : 1 + varintSize(lastRevision);
  const positionSize = position === undefined ? 0 : 2 * (1 + varintSize(position));
  const successSize = revisionSize + fieldSize(positionSize);
  const streamSize = fieldSize(name.length);
  const response = Buffer.allocUnsafe(
    fieldSize(correlation.length) + fieldSize(successSize) + fieldSize(streamSize),
  );
  let at = writeBytesField(response, TAG_CORRELATION, correlation, 0);
  at = writeFieldHeader(response, TAG_SUCCESS, successSize, at);
  if (lastRevision < 0) at = writeFieldHeader(response, TAG_NO_STREAM, 0, at);
  else at = writeFieldHeader(response, TAG_CURRENT_REVISION, lastRevision, at);
  if (position === undefined) at = writeFieldHeader(response, TAG_NO_POSITION, 0, at);
  else {
    at = writeFieldHeader(response, TAG_POSITION, positionSize, at);
    at = writeFieldHeader(response, TAG_COMMIT, position, at);
    at = writeFieldHeader(response, TAG_PREPARE, position, at);
  }
  at = writeFieldHeader(response, TAG_STREAM, streamSize, at);
  writeBytesField(response, TAG_STREAM_NAME, name, at);
  return response;
}

/** Answers an append that never reached the writer. */
export function problemResponse(append: Answered, problem: BatchProblem): Buffer {
  const response = responseFor(append);
  switch (problem.kind) {
    case 'timeout':
      return fail(response, status.DEADLINE_EXCEEDED, 'Timeout', new sharedMessages.Timeout());
    case 'too-large': {
      const detail = new sharedMessages.MaximumAppendSizeExceeded();
      detail.setMaxappendsize(limits.appendBytes);
      return fail(response, status.INVALID_ARGUMENT, 'MaximumAppendSizeExceeded', detail);
    }
    case 'bad-request': {
      const detail = new sharedMessages.BadRequest();
      detail.setMessage(problem.message);
      return fail(response, status.INVALID_ARGUMENT, 'BadRequest', detail);
    }
    case 'too-busy':
      return fail(response, status.OK, 'Server Is Too Busy', new emptyMessages.Empty());
  }
}

function responseFor({ correlation, streamName }: Answered): BatchAppendResp {
  const response = new streamMessages.BatchAppendResp();
  response.setCorrelationId(sharedMessages.UUID.deserializeBinary(correlation));
  response.setStreamIdentifier(identifier(streamName));
  return response;
}

function identifier(streamName: string) {
  const message = new sharedMessages.StreamIdentifier();
  message.setStreamName(Buffer.from(streamName));
  return message;
}

function fail(
  response: BatchAppendResp,
  code: status,
  message: string,
  detail: Serializable,
): Buffer {
  const packed = new anyMessages.Any();
  const typeName =
    detail instanceof emptyMessages.Empty
      ? 'google.protobuf.Empty'
      : `event_store.client.${message}`;
  packed.pack(detail.serializeBinary(), typeName);
  const error = new statusMessages.Status();
  error.setCode(code as number);
  error.setMessage(message);
  error.setDetails(packed);
  return Buffer.from(response.setError(error).serializeBinary());
}

function wrongVersion(lastRevision: number, expected: ExpectedRevision) {
  const wrong = new sharedMessages.WrongExpectedVersion();
  if (lastRevision < 0) wrong.setCurrentNoStream(new emptyMessages.Empty());
  else wrong.setCurrentStreamRevision(String(lastRevision));
  if (expected === 'any') wrong.setExpectedAny(new emptyMessages.Empty());
  else if (expected === 'no_stream') wrong.setExpectedNoStream(new emptyMessages.Empty());
  else if (expected === 'stream_exists') wrong.setExpectedStreamExists(new emptyMessages.Empty());
  else wrong.setExpectedStreamPosition(expected.toString());
  return wrong;
}
