/**
 * The BatchAppend call: one long stream on which a client multiplexes all its appends. Messages
 * of different appends may interleave; each append gets exactly one answer.
 */
import type { ServerDuplexStream } from '@grpc/grpc-js';
import { type Collecting, collectEvents, startCollecting, timeLeft } from './batch-collect.ts';
import type { BatchMessage } from './batch-request.ts';
import { type BatchProblem, outcomeResponse, problemResponse } from './batch-response.ts';
import { limits } from './limits.ts';
import type { OpenCalls } from './open-calls.ts';
import { type FramedMessages, groupMessages } from './outlet.ts';
import { type CallStatus, invalidArgument, statusOfError } from './status.ts';
import { type EventStore, StoreBusyError } from './store.ts';

type Call = ServerDuplexStream<BatchMessage, FramedMessages>;

interface Session {
  readonly store: EventStore;
  readonly calls: OpenCalls;
  readonly call: Call;
  /** Appends without an answer, by correlation id. */
  readonly appends: Map<string, Collecting>;
  /** Answers that go out together in the next turn of the event loop. */
  answers: Buffer[];
  readonly closers: (() => void)[];
  closed: boolean;
  halfClosed: boolean;
}

/** Creates the handler of `Streams/BatchAppend`. */
export function createBatchAppendHandler(store: EventStore, calls: OpenCalls) {
  return (call: Call): void => {
    const session: Session = {
      store,
      calls,
      call,
      appends: new Map(),
      answers: [],
      closers: [],
      closed: false,
      halfClosed: false,
    };
    call.on('cancelled', () => close(session));
    call.on('close', () => close(session));
    const admitted = calls.admit({
      fail: (status) => fail(session, status),
      onClosed: (callback) => session.closers.push(callback),
    });
    if (!admitted) return;
    call.on('data', (message: BatchMessage) => receive(session, message));
    call.on('end', () => {
      session.halfClosed = true;
      endWhenAnswered(session);
    });
  };
}

function close(session: Session): void {
  if (session.closed) return;
  session.closed = true;
  for (const append of session.appends.values()) clearTimeout(append.timer);
  session.appends.clear();
  for (const callback of session.closers) callback();
}

function fail(session: Session, status: CallStatus): void {
  if (session.closed) return;
  sendAnswers(session);
  close(session);
  session.call.emit('error', status);
}

function endWhenAnswered(session: Session): void {
  if (session.closed || !session.halfClosed || session.appends.size > 0) return;
  sendAnswers(session);
  close(session);
  session.call.end();
}

function answer(session: Session, key: string, response: Buffer): void {
  const append = session.appends.get(key);
  if (append === undefined) return;
  clearTimeout(append.timer);
  session.appends.delete(key);
  // The appends of one commit are answered in one turn, and their answers leave in one write.
  if (session.answers.length === 0) setImmediate(() => sendAnswers(session));
  session.answers.push(response);
  endWhenAnswered(session);
}

function sendAnswers(session: Session): void {
  if (session.closed || session.answers.length === 0) return;
  const { answers } = session;
  session.answers = [];
  session.call.write(groupMessages(answers));
}

function refuse(session: Session, key: string, append: Collecting, problem: BatchProblem): void {
  answer(session, key, problemResponse(append, problem));
}

function receive(session: Session, message: BatchMessage): void {
  // While the server drains, new appends get no answer of their own: they end with the call.
  if (session.closed || session.calls.refusal() !== undefined) return;
  const { key, options } = message;
  if (key === undefined) {
    fail(session, invalidArgument('a correlation id must be a UUID'));
    return;
  }
  const known = session.appends.get(key);
  if (known !== undefined) {
    if (!known.writing && options === undefined) collect(session, key, known, message);
    return;
  }
  // The rest of an append that was already refused has no options and is dropped here.
  if (options === undefined) return;
  const { append, problem } = startCollecting(message.correlation, options);
  const overfull = session.appends.size >= limits.batchCollecting && !message.isFinal;
  session.appends.set(key, append);
  const left = timeLeft(options);
  if (problem !== undefined) refuse(session, key, append, problem);
  else if (overfull) refuse(session, key, append, { kind: 'too-busy' });
  else if (left <= 0) refuse(session, key, append, { kind: 'timeout' });
  else begin(session, key, append, message, left);
}

function begin(
  session: Session,
  key: string,
  append: Collecting,
  message: BatchMessage,
  milliseconds: number,
): void {
  if (!message.isFinal) {
    const expire = (): void => refuse(session, key, append, { kind: 'timeout' });
    append.timer = setTimeout(expire, milliseconds);
  }
  collect(session, key, append, message);
}

function collect(session: Session, key: string, append: Collecting, message: BatchMessage): void {
  const problem = collectEvents(append, message);
  if (problem !== undefined) refuse(session, key, append, problem);
  else if (message.isFinal) write(session, key, append);
}

function write(session: Session, key: string, append: Collecting): void {
  append.writing = true;
  clearTimeout(append.timer);
  const { streamName, expected, events } = append;
  session.store.append({ streamName, expected, events }).then(
    (outcome) => answer(session, key, outcomeResponse(append, expected, outcome)),
    (error: unknown) => {
      if (error instanceof StoreBusyError) refuse(session, key, append, { kind: 'too-busy' });
      else fail(session, statusOfError(error));
    },
  );
  if (session.store.isCongested()) pauseUntilIdle(session);
}

/** Stops reading from this client until what it and others sent is on disk. */
function pauseUntilIdle({ store, call }: Session): void {
  if (call.isPaused()) return;
  call.pause();
  store.idle().then(
    () => call.resume(),
    () => call.resume(),
  );
}
