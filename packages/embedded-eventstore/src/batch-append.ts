/**
 * The BatchAppend call: one long stream on which a client multiplexes all its appends. Messages
 * of different appends may interleave; each append gets exactly one answer.
 */
import type { UUID } from '@eventstore/db-client/generated/shared_pb.js';
import type {
  BatchAppendReq,
  BatchAppendResp,
} from '@eventstore/db-client/generated/streams_pb.js';
import type { ServerDuplexStream } from '@grpc/grpc-js';
import { type BatchProblem, outcomeResponse, problemResponse } from './batch-response.ts';
import type { ExpectedRevision } from './commit-check.ts';
import { limits } from './limits.ts';
import type { OpenCalls } from './open-calls.ts';
import { appendSizeOf, expectationOf, readProposal, uuidText } from './proposed-event.ts';
import type { ProposedEvent } from './record.ts';
import { type CallStatus, invalidArgument, statusOfError } from './status.ts';
import type { EventStore } from './store.ts';
import { streamNameProblem } from './stream-name.ts';

interface Collecting {
  readonly correlationId: UUID;
  readonly streamName: string;
  readonly expected: ExpectedRevision;
  readonly events: ProposedEvent[];
  bytes: number;
  timer: NodeJS.Timeout | undefined;
  /** Handed to the writer; only its answer is outstanding. */
  writing: boolean;
}

/** Creates the handler of `Streams/BatchAppend`. */
export function createBatchAppendHandler(store: EventStore, calls: OpenCalls) {
  return (call: ServerDuplexStream<BatchAppendReq, BatchAppendResp>): void => {
    const session = createSession(store, call);
    if (!calls.admit(session)) return;
    call.on('data', session.receive);
    call.on('end', session.halfClose);
  };
}

function createSession(
  store: EventStore,
  call: ServerDuplexStream<BatchAppendReq, BatchAppendResp>,
) {
  const appends = new Map<string, Collecting>();
  const closers: (() => void)[] = [];
  let closed = false;
  let halfClosed = false;

  const close = (): void => {
    if (closed) return;
    closed = true;
    for (const append of appends.values()) clearTimeout(append.timer);
    appends.clear();
    for (const callback of closers) callback();
  };
  const fail = (status: CallStatus): void => {
    if (closed) return;
    close();
    call.emit('error', status);
  };
  const endWhenDone = (): void => {
    if (closed || !halfClosed || appends.size > 0) return;
    close();
    call.end();
  };
  const answer = (key: string, response: BatchAppendResp): void => {
    const append = appends.get(key);
    if (closed || append === undefined) return;
    clearTimeout(append.timer);
    appends.delete(key);
    call.write(response);
    endWhenDone();
  };
  const refuse = (key: string, append: Collecting, problem: BatchProblem): void =>
    answer(key, problemResponse(append.correlationId, append.streamName, problem));

  const write = (key: string, append: Collecting): void => {
    append.writing = true;
    clearTimeout(append.timer);
    const { correlationId, streamName, expected, events } = append;
    store.append({ streamName, expected, events }).then(
      (outcome) => answer(key, outcomeResponse(correlationId, streamName, expected, outcome)),
      (error: unknown) => fail(statusOfError(error)),
    );
    if (store.isCongested()) pauseUntilIdle();
  };
  const pauseUntilIdle = (): void => {
    if (call.isPaused()) return;
    call.pause();
    void store.idle().then(() => call.resume());
  };

  const receive = (message: BatchAppendReq): void => {
    if (closed) return;
    const correlationId = message.getCorrelationId();
    const key = uuidText(correlationId);
    if (correlationId === undefined || key === undefined) {
      return fail(invalidArgument('a correlation id must be a UUID'));
    }
    const known = appends.get(key);
    const options = message.getOptions();
    if (known !== undefined) {
      if (!known.writing && options === undefined) collect(key, known, message);
      return;
    }
    // The rest of an append that was already refused has no options and is swallowed here.
    if (options !== undefined) begin(key, correlationId, options, message);
  };

  const begin = (
    key: string,
    correlationId: UUID,
    options: BatchAppendReq.Options,
    message: BatchAppendReq,
  ): void => {
    const append = startAppend(correlationId, options);
    const overfull = appends.size >= limits.batchCollecting && !message.getIsFinal();
    appends.set(key, append.collecting);
    if (append.problem !== undefined) return refuse(key, append.collecting, append.problem);
    if (overfull) return refuse(key, append.collecting, { kind: 'too-busy' });
    const left = timeLeft(options);
    if (left <= 0) return refuse(key, append.collecting, { kind: 'timeout' });
    if (!message.getIsFinal()) {
      append.collecting.timer = setTimeout(
        () => refuse(key, append.collecting, { kind: 'timeout' }),
        left,
      );
    }
    collect(key, append.collecting, message);
  };

  const collect = (key: string, append: Collecting, message: BatchAppendReq): void => {
    for (const proposed of message.getProposedMessagesList()) {
      const event = readProposal(proposed);
      if ('kind' in event) {
        const text = event.kind === 'bad-request' ? event.message : 'type or content-type missing';
        return refuse(key, append, { kind: 'bad-request', message: text });
      }
      append.bytes += appendSizeOf(event);
      append.events.push(event);
    }
    if (append.bytes > limits.appendBytes) return refuse(key, append, { kind: 'too-large' });
    if (message.getIsFinal()) write(key, append);
  };

  call.on('cancelled', close);
  call.on('close', close);
  return {
    receive,
    fail,
    onClosed: (callback: () => void): void => {
      if (closed) callback();
      else closers.push(callback);
    },
    halfClose: (): void => {
      halfClosed = true;
      endWhenDone();
    },
  };
}

function startAppend(
  correlationId: UUID,
  options: BatchAppendReq.Options,
): { collecting: Collecting; problem: BatchProblem | undefined } {
  const bytes = options.getStreamIdentifier()?.getStreamName_asU8() ?? new Uint8Array();
  const streamName = Buffer.from(bytes).toString();
  const exact = options.hasStreamPosition() ? options.getStreamPosition() : undefined;
  const expected = expectationOf(options, exact);
  const message =
    streamNameProblem(streamName) ??
    (expected === undefined ? 'no expected revision was given' : undefined);
  return {
    collecting: {
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

/** Milliseconds that an append has to arrive completely. */
function timeLeft(options: BatchAppendReq.Options): number {
  const deadline = options.getDeadline();
  if (deadline === undefined) return limits.batchCollectMilliseconds;
  return Math.min(deadline.toDate().getTime() - Date.now(), limits.batchCollectMilliseconds);
}
