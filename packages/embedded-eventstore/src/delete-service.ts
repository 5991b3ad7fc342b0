/** The Delete (soft) and Tombstone (for ever) calls. */
import type {
  DeleteReq,
  DeleteResp,
  TombstoneReq,
  TombstoneResp,
} from '@eventstore/db-client/generated/streams_pb.js';
import type { ServerUnaryCall, sendUnaryData } from '@grpc/grpc-js';
import type { ExpectedRevision } from './commit-check.ts';
import type { OpenCalls } from './open-calls.ts';
import { expectationOf } from './proposed-event.ts';
import { streamMessages } from './protocol.ts';
import {
  type CallStatus,
  invalidArgument,
  statusOfError,
  streamDeleted,
  unavailable,
  wrongExpectedVersion,
} from './status.ts';
import type { DeleteOutcome, EventStore } from './store.ts';
import { isMetadataStream, requestedStream, streamNameProblem } from './stream-name.ts';

type Options = DeleteReq.Options | TombstoneReq.Options;
type Operation = (streamName: string, expected: ExpectedRevision) => Promise<DeleteOutcome>;

/** Creates the handler of `Streams/Delete`. */
export function createDeleteHandler(store: EventStore, calls: OpenCalls) {
  return (call: ServerUnaryCall<DeleteReq, DeleteResp>, reply: sendUnaryData<DeleteResp>): void => {
    run(store.softDelete, call.request.getOptions(), calls).then(
      (result) => {
        if (typeof result !== 'number') return reply(result);
        const position = new streamMessages.DeleteResp.Position();
        position.setCommitPosition(String(result));
        position.setPreparePosition(String(result));
        reply(null, new streamMessages.DeleteResp().setPosition(position));
      },
      (error: unknown) => reply(statusOfError(error)),
    );
  };
}

/** Creates the handler of `Streams/Tombstone`. */
export function createTombstoneHandler(store: EventStore, calls: OpenCalls) {
  return (
    call: ServerUnaryCall<TombstoneReq, TombstoneResp>,
    reply: sendUnaryData<TombstoneResp>,
  ): void => {
    run(store.tombstone, call.request.getOptions(), calls).then(
      (result) => {
        if (typeof result !== 'number') return reply(result);
        const position = new streamMessages.TombstoneResp.Position();
        position.setCommitPosition(String(result));
        position.setPreparePosition(String(result));
        reply(null, new streamMessages.TombstoneResp().setPosition(position));
      },
      (error: unknown) => reply(statusOfError(error)),
    );
  };
}

/** Returns the position of the record that deleted the stream, or the status to answer. */
async function run(
  operation: Operation,
  options: Options | undefined,
  calls: OpenCalls,
): Promise<number | CallStatus> {
  const refusal = calls.refusal();
  if (refusal !== undefined) return unavailable(refusal);
  if (options === undefined) return invalidArgument('the request has no options');
  const streamName = requestedStream(options);
  const problem = streamNameProblem(streamName);
  if (problem !== undefined) return invalidArgument(problem);
  if (isMetadataStream(streamName)) return invalidArgument('metadata streams cannot be deleted');
  const exact = options.hasRevision() ? options.getRevision() : undefined;
  const expected = expectationOf(options, exact);
  if (expected === undefined) return invalidArgument('no expected revision was given');

  const outcome = await operation(streamName, expected);
  if (outcome.kind === 'deleted') return streamDeleted(streamName);
  if (outcome.kind === 'wrong-revision') {
    return wrongExpectedVersion(streamName, expected, outcome.lastRevision);
  }
  return outcome.position;
}
