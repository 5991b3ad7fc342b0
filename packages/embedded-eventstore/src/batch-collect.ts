/** Puts the messages of one append of the batch call together. */
import type { UUID } from '@eventstore/db-client/generated/shared_pb.js';
import type { BatchAppendReq } from '@eventstore/db-client/generated/streams_pb.js';
import type { BatchProblem } from './batch-response.ts';
import type { ExpectedRevision } from './commit-check.ts';
import { limits } from './limits.ts';
import { appendSizeOf, expectationOf, readProposal } from './proposed-event.ts';
import type { ProposedEvent } from './record.ts';
import { requestedStream, streamNameProblem } from './stream-name.ts';

/** An append of the batch call that is still arriving. */
export interface Collecting {
  readonly correlationId: UUID;
  readonly streamName: string;
  readonly expected: ExpectedRevision;
  readonly events: ProposedEvent[];
  bytes: number;
  timer: NodeJS.Timeout | undefined;
  /** Handed to the writer; only its answer is outstanding. */
  writing: boolean;
}

/** Begins an append from the options of its first message. */
export function startCollecting(
  correlationId: UUID,
  options: BatchAppendReq.Options,
): { readonly append: Collecting; readonly problem: BatchProblem | undefined } {
  const streamName = requestedStream(options);
  const exact = options.hasStreamPosition() ? options.getStreamPosition() : undefined;
  const expected = expectationOf(options, exact);
  const message =
    streamNameProblem(streamName) ??
    (expected === undefined ? 'no expected revision was given' : undefined);
  return {
    append: {
      correlationId,
      streamName,
      expected: expected ?? 'any',
      events: [],
      bytes: 0,
      timer: undefined,
      writing: false,
    },
    problem: message === undefined ? undefined : { kind: 'bad-request', message },
  };
}

/** Adds the events of one message; returns the reason when the append has to be refused. */
export function collectEvents(
  append: Collecting,
  message: BatchAppendReq,
): BatchProblem | undefined {
  for (const proposed of message.getProposedMessagesList()) {
    const event = readProposal(proposed);
    if ('kind' in event) {
      return event.kind === 'bad-request'
        ? event
        : { kind: 'bad-request', message: 'an event has no type or no content type' };
    }
    append.bytes += appendSizeOf(event);
    append.events.push(event);
  }
  return append.bytes > limits.appendBytes ? { kind: 'too-large' } : undefined;
}

/** Milliseconds that an append has to arrive completely. */
export function timeLeft(options: BatchAppendReq.Options): number {
  const deadline = options.getDeadline();
  if (deadline === undefined) return limits.batchCollectMilliseconds;
  return Math.min(deadline.toDate().getTime() - Date.now(), limits.batchCollectMilliseconds);
}
