/** The Append call: options first, then one message per event; half-closing commits. */
import type { AppendReq, AppendResp } from '@eventstore/db-client/generated/streams_pb.js';
import type { ServerReadableStream, sendUnaryData } from '@grpc/grpc-js';
import type { ExpectedRevision } from './commit-check.ts';
import { limits } from './limits.ts';
import type { OpenCalls } from './open-calls.ts';
import { appendSizeOf, expectationOf, readProposal } from './proposed-event.ts';
import { sharedMessages, streamMessages } from './protocol.ts';
import type { ProposedEvent } from './record.ts';
import {
  appendTooLarge,
  type CallStatus,
  invalidArgument,
  missingEventProperty,
  statusOfError,
  streamDeleted,
  unavailable,
} from './status.ts';
import type { AppendOutcome, EventStore } from './store.ts';
import { requestedStream, streamNameProblem } from './stream-name.ts';

interface Collected {
  target: { readonly streamName: string; readonly expected: ExpectedRevision } | undefined;
  readonly events: ProposedEvent[];
  bytes: number;
  problem: CallStatus | undefined;
}

/** Creates the handler of `Streams/Append`. */
export function createAppendHandler(store: EventStore, calls: OpenCalls) {
  return (
    call: ServerReadableStream<AppendReq, AppendResp>,
    reply: sendUnaryData<AppendResp>,
  ): void => {
    const collected: Collected = { target: undefined, events: [], bytes: 0, problem: undefined };
    call.on('data', (message: AppendReq) => {
      // After a problem the rest is read and dropped, so that the answer reaches the client.
      if (collected.problem === undefined) collected.problem = collect(collected, message);
    });
    call.on('end', () => {
      if (call.cancelled) return;
      commit(store, calls, collected).then(
        (response) => reply(null, response),
        (error: unknown) => reply(isCallStatus(error) ? error : statusOfError(error)),
      );
    });
  };
}

function isCallStatus(error: unknown): error is CallStatus {
  return typeof error === 'object' && error !== null && 'code' in error && 'details' in error;
}

function collect(collected: Collected, message: AppendReq): CallStatus | undefined {
  const options = message.getOptions();
  if (options !== undefined) return collectOptions(collected, options);
  const proposed = message.getProposedMessage();
  if (proposed === undefined) return invalidArgument('a message holds neither options nor event');
  if (collected.target === undefined) return invalidArgument('the first message has no options');
  const event = readProposal(proposed);
  if ('kind' in event) {
    return event.kind === 'missing-property'
      ? missingEventProperty()
      : invalidArgument(event.message);
  }
  collected.bytes += appendSizeOf(event);
  if (collected.bytes > limits.appendBytes) return appendTooLarge();
  collected.events.push(event);
  return undefined;
}

function collectOptions(collected: Collected, options: AppendReq.Options): CallStatus | undefined {
  const streamName = requestedStream(options);
  const problem = streamNameProblem(streamName);
  if (problem !== undefined) return invalidArgument(problem);
  const exact = options.hasRevision() ? options.getRevision() : undefined;
  const expected = expectationOf(options, exact);
  if (expected === undefined) return invalidArgument('no expected revision was given');
  collected.target = { streamName, expected };
  return undefined;
}

async function commit(
  store: EventStore,
  calls: OpenCalls,
  collected: Collected,
): Promise<AppendResp> {
  const refusal = calls.refusal();
  if (refusal !== undefined) throw unavailable(refusal);
  if (collected.problem !== undefined) throw collected.problem;
  if (collected.target === undefined) throw invalidArgument('the request is empty');
  const { streamName, expected } = collected.target;
  const outcome = await store.append({ streamName, expected, events: collected.events });
  if (outcome.kind === 'deleted') throw streamDeleted(streamName);
  return responseTo(outcome, expected);
}

function responseTo(
  outcome: Exclude<AppendOutcome, { kind: 'deleted' }>,
  expected: ExpectedRevision,
): AppendResp {
  const response = new streamMessages.AppendResp();
  const { lastRevision } = outcome;
  if (outcome.kind === 'wrong-revision') {
    return response.setWrongExpectedVersion(wrongVersion(lastRevision, expected));
  }
  const success = new streamMessages.AppendResp.Success();
  if (lastRevision < 0) success.setNoStream(new sharedMessages.Empty());
  else success.setCurrentRevision(String(lastRevision));
  if (outcome.position === undefined) success.setNoPosition(new sharedMessages.Empty());
  else {
    const position = new streamMessages.AppendResp.Position();
    position.setCommitPosition(String(outcome.position));
    position.setPreparePosition(String(outcome.position));
    success.setPosition(position);
  }
  return response.setSuccess(success);
}

function wrongVersion(
  lastRevision: number,
  expected: ExpectedRevision,
): AppendResp.WrongExpectedVersion {
  const wrong = new streamMessages.AppendResp.WrongExpectedVersion();
  if (lastRevision < 0) wrong.setCurrentNoStream(new sharedMessages.Empty());
  else wrong.setCurrentRevision(String(lastRevision));
  if (expected === 'any') wrong.setExpectedAny(new sharedMessages.Empty());
  else if (expected === 'no_stream') wrong.setExpectedNoStream(new sharedMessages.Empty());
  else if (expected === 'stream_exists') wrong.setExpectedStreamExists(new sharedMessages.Empty());
  else wrong.setExpectedRevision(expected.toString());
  return wrong;
}
