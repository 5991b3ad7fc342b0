/** The answers of the BatchAppend call: exactly one per correlation id. */
import type { UUID } from '@eventstore/db-client/generated/shared_pb.js';
import type { BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js';
import { status } from '@grpc/grpc-js';
import anyMessages from 'google-protobuf/google/protobuf/any_pb.js';
import emptyMessages from 'google-protobuf/google/protobuf/empty_pb.js';
import type { ExpectedRevision } from './commit-check.ts';
import { limits } from './limits.ts';
import { sharedMessages, statusMessages, streamMessages } from './protocol.ts';
import type { AppendOutcome } from './store.ts';

/** The reason to refuse an append of the batch call. */
export type BatchProblem =
  | { readonly kind: 'timeout' }
  | { readonly kind: 'too-large' }
  | { readonly kind: 'too-busy' }
  | { readonly kind: 'bad-request'; readonly message: string };

interface Serializable {
  serializeBinary(): Uint8Array;
}

/** Answers an append that was decided. */
export function outcomeResponse(
  correlationId: UUID,
  streamName: string,
  expected: ExpectedRevision,
  outcome: AppendOutcome,
): BatchAppendResp {
  const response = responseFor(correlationId, streamName);
  if (outcome.kind === 'wrong-revision') {
    const detail = wrongVersion(outcome.lastRevision, expected);
    return fail(response, status.ALREADY_EXISTS, 'WrongExpectedVersion', detail);
  }
  if (outcome.kind === 'deleted') {
    const detail = new sharedMessages.StreamDeleted();
    detail.setStreamIdentifier(identifier(streamName));
    return fail(response, status.NOT_FOUND, 'StreamDeleted', detail);
  }
  const success = new streamMessages.BatchAppendResp.Success();
  if (outcome.lastRevision < 0) success.setNoStream(new emptyMessages.Empty());
  else success.setCurrentRevision(String(outcome.lastRevision));
  if (outcome.position === undefined) success.setNoPosition(new emptyMessages.Empty());
  else {
    const position = new sharedMessages.AllStreamPosition();
    position.setCommitPosition(String(outcome.position));
    position.setPreparePosition(String(outcome.position));
    success.setPosition(position);
  }
  return response.setSuccess(success);
}

/** Answers an append that never reached the writer. */
export function problemResponse(
  correlationId: UUID,
  streamName: string,
  problem: BatchProblem,
): BatchAppendResp {
  const response = responseFor(correlationId, streamName);
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

function responseFor(correlationId: UUID, streamName: string): BatchAppendResp {
  const response = new streamMessages.BatchAppendResp();
  response.setCorrelationId(correlationId);
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
): BatchAppendResp {
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
  return response.setError(error);
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
