import type { AppendGate, AppendPass } from './append-gate.ts';
import { isKeptByClient, sentAppendError, unsentAppendError } from './client-errors.ts';
import { type Deadline, DeadlinePassed, startDeadline } from './deadline.ts';
import type { OutgoingAppend } from './outgoing-append.ts';
import type { AppendError, Appended } from './types.ts';

/** The part of the event store's client that appending needs. */
export interface AppendClient {
  /**
   * Resolves once the client has learnt what the server can do; sends no append. The same promise as
   * long as that holds, another one after a lost connection.
   */
  ready(): Promise<unknown>;
  /** Sends an append. The server refuses it when it arrives after this many milliseconds. */
  append(append: OutgoingAppend, milliseconds: number): Promise<Appended>;
  /** Cuts the stream that all appends of this client share; the next append opens another. */
  cut(): Promise<void>;
  /** Cuts and gives up the connection. */
  close(): Promise<void>;
}

export interface AppenderOptions {
  readonly connect: () => AppendClient;
  readonly gate: AppendGate;
}

/** Sends appends, and knows of each failed one whether it was sent. */
export interface Appender {
  /** Throws `AppendError` within this many milliseconds, whatever the server does. */
  append(append: OutgoingAppend, milliseconds: number): Promise<Appended>;
  /** Refuses new appends, waits for those under way and gives up the connection. */
  close(): Promise<void>;
}

interface Readiness {
  readonly client: AppendClient;
  readonly answer: Promise<unknown>;
}

/** Appends that may wait or be under way; more are refused at once. */
const pendingMaximum = 10_000;

/** The server gives up before we do, so that it writes nothing after we have given up. */
const serverShare = 0.8;

/** Makes an appender that connects when it sends its first append. */
export function createAppender({ connect, gate }: AppenderOptions): Appender {
  let client = connect();
  let pending = 0;
  let closed = false;
  let lastSent = 0;
  let lastAnswered = 0;
  let cutting = false;
  /** The answer of a client that is ready. */
  let given: Promise<unknown> | null = null;

  /** A client that keeps an error or waits for a lost answer would fail every append for ever. */
  const replace = (broken: AppendClient): void => {
    if (broken !== client || closed) return;
    client = connect();
    void gate.whileEmpty(() => broken.close()).catch(() => {});
  };
  const readiness = (): Readiness => {
    const answer = client.ready();
    // A caller that only compares it does not wait for it, and its failure must not end the process.
    if (answer !== given) answer.catch(() => {});
    return { client, answer };
  };
  const untilReady = async (stream: string, deadline: Deadline): Promise<Readiness> => {
    const current = readiness();
    if (current.answer === given) return current;
    try {
      await deadline.race(current.answer);
      given = current.answer;
      return current;
    } catch (error) {
      if (isKeptByClient(error)) replace(current.client);
      throw unsentAppendError(stream, 'the event store does not answer', error);
    }
  };
  const enter = async (append: OutgoingAppend, deadline: Deadline): Promise<AppendPass> => {
    try {
      return await gate.enter(append.bytes, deadline.signal);
    } catch (error) {
      throw unsentAppendError(append.stream, 'too many appends are waiting', error);
    }
  };
  const cutSilentStream = (): void => {
    if (cutting) return;
    cutting = true;
    const done = (): void => {
      cutting = false;
    };
    gate.whileShut(() => client.cut()).then(done, done);
  };
  const send = async (
    current: AppendClient,
    append: OutgoingAppend,
    pass: AppendPass,
    deadline: Deadline,
  ): Promise<Appended> => {
    lastSent += 1;
    const number = lastSent;
    const outcome = current.append(append, Math.ceil(deadline.remaining() * serverShare));
    const settled = (): void => {
      lastAnswered = Math.max(lastAnswered, number);
      pass.leave();
    };
    outcome.then(settled, settled);
    try {
      return await deadline.race(outcome);
    } catch (error) {
      if (error instanceof DeadlinePassed) {
        // An answer to a later append proves that this one has left our buffers.
        if (lastAnswered > number) pass.leave();
        else cutSilentStream();
      }
      throw sentAppendError(append.stream, error);
    }
  };
  const run = async (append: OutgoingAppend, deadline: Deadline): Promise<Appended> => {
    const ready = await untilReady(append.stream, deadline);
    const pass = gate.tryEnter(append.bytes) ?? (await enter(append, deadline));
    if (closed) {
      pass.leave();
      throw closedError(append.stream);
    }
    if (ready.answer === readiness().answer) return await send(client, append, pass, deadline);
    pass.leave();
    // The connection was lost while this append waited for its place: nothing was sent yet.
    return await run(append, deadline);
  };

  return {
    append: async (append, milliseconds) => {
      if (closed) throw closedError(append.stream);
      if (pending >= pendingMaximum) {
        throw unsentAppendError(append.stream, `${pendingMaximum} appends are waiting`);
      }
      pending += 1;
      const deadline = startDeadline(milliseconds);
      try {
        return await run(append, deadline);
      } finally {
        deadline.clear();
        pending -= 1;
      }
    },
    close: async () => {
      if (closed) return;
      closed = true;
      await gate.whileEmpty(() => client.close());
    },
  };
}

const closedError = (stream: string): AppendError =>
  unsentAppendError(stream, 'the event store is closed');
