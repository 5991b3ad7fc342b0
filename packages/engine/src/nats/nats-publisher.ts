import { createInbox, type Msg, type MsgHdrs, MsgHdrsImpl } from 'nats';
import { messageOf } from '../consume/run-forever.ts';
import type { OutgoingMessage } from '../relay/message.ts';
import type { NatsSession } from './nats-connection.ts';

/** The reason why not everything was published. */
export type PublishFault =
  /** The stream ends elsewhere: somebody else published, or the end was lost. */
  | 'conflict'
  /** The stream has this message already. */
  | 'duplicate'
  /** No answer in time, or the connection was lost: it may or may not be stored. */
  | 'unknown_outcome'
  /** The server refused for another reason, such as no space. */
  | 'refused';

export interface PublishOutcome {
  /** The number of messages, from the first on, that are stored. */
  readonly acknowledged: number;
  readonly fault: PublishFault | null;
  /** For people; empty without a fault. */
  readonly detail: string;
}

/** Publishes in order over one session. One call at a time. */
export interface Publisher {
  /**
   * Publishes messages right behind the given sequence of the stream, each on condition that the
   * stream ends with the one before it. Stops at the first fault and returns when no answer is
   * under way any more. Never rejects.
   *
   * Not every message is answered: one that is stored proves by its condition that those before it are. The
   * first is, so that what is wrong with it is told by itself; of a fault further on, the answer may tell
   * only that the stream ends elsewhere.
   */
  publish(messages: readonly OutgoingMessage[], sequence: number): Promise<PublishOutcome>;
  close(): void;
}

export interface PublisherOptions {
  /** The number of messages that may be on their way at once; an answer is asked for with every quarter of them. */
  readonly window: number;
  /** Milliseconds after which an answer is given up. */
  readonly answerWithin?: number;
}

/**
 * Opens a publisher. It has its own subscription for the answers, instead of one request of the
 * client per message: that doubles the rate at which a backlog can be published. Answers cost the broker and the
 * reader of them nearly as much as the messages.
 */
export function openPublisher(session: NatsSession, options: PublisherOptions): Publisher {
  const inbox = createInbox();
  let run: Run | null = null;
  let number = 0;
  const subscription = session.connection.subscribe(`${inbox}.*`, {
    callback: (error, message) => {
      if (error) run?.fail('refused', error.message);
      else run?.answered(Number(message.subject.slice(inbox.length + 1)), message);
    },
  });
  return {
    publish: (messages, sequence) =>
      new Promise((resolve) => {
        const first = number;
        number += messages.length;
        run = createRun({ session, options, inbox, messages, sequence, first }, (outcome) => {
          run = null;
          resolve(outcome);
        });
        run.start();
      }),
    close: () => subscription.unsubscribe(),
  };
}

interface Run {
  start(): void;
  /** An answer to the message with this number. */
  answered(number: number, message: Msg): void;
  fail(fault: PublishFault, detail: string): void;
}

interface RunInput {
  readonly session: NatsSession;
  readonly options: PublisherOptions;
  readonly inbox: string;
  readonly messages: readonly OutgoingMessage[];
  readonly sequence: number;
  /** Number of the first message; answers of earlier runs have smaller ones. */
  readonly first: number;
}

const checkMilliseconds = 250;

function createRun(input: RunInput, finish: (outcome: PublishOutcome) => void): Run {
  const { session, options, inbox, messages, sequence, first } = input;
  const { connection, lost } = session;
  const { window, answerWithin = 5_000 } = options;
  const answerEvery = Math.max(1, Math.floor(window / 4));
  const isAnswered = (index: number): boolean =>
    index === 0 || index === messages.length - 1 || (index + 1) % answerEvery === 0;
  /** Numbers of messages: sent, up to the last that is to be answered, and up to the last that was. */
  let sent = 0;
  let asked = 0;
  let settled = 0;
  let acknowledged = 0;
  let lastAnswerAt = Date.now();
  let failure: { readonly fault: PublishFault; readonly detail: string } | null = null;
  let over = false;

  const end = (): void => {
    if (over) return;
    over = true;
    clearInterval(timer);
    lost.removeEventListener('abort', onLost);
    finish({ acknowledged, fault: failure?.fault ?? null, detail: failure?.detail ?? '' });
  };
  const fail = (fault: PublishFault, detail: string): void => {
    failure ??= { fault, detail };
  };
  const onLost = (): void => {
    fail('unknown_outcome', 'the connection was lost');
    end();
  };
  const timer = setInterval(() => {
    if (settled === asked || Date.now() - lastAnswerAt < answerWithin) return;
    fail('unknown_outcome', `no answer within ${answerWithin} ms`);
    end();
  }, checkMilliseconds);

  const pump = (): void => {
    while (!failure && sent < messages.length && sent - settled < window) {
      if (settled === asked) lastAnswerAt = Date.now();
      const reply = isAnswered(sent) ? `${inbox}.${first + sent}` : null;
      const { subject, body, headers } = messages[sent] as OutgoingMessage;
      try {
        connection.publish(subject, body, {
          ...(reply && { reply }),
          headers: wireHeaders(headers, sequence + sent),
        });
        sent += 1;
        if (reply) asked = sent;
      } catch (error) {
        fail('refused', messageOf(error));
      }
    }
    if (settled === asked && (failure || sent === messages.length)) end();
  };
  return {
    fail,
    start: () => {
      lost.addEventListener('abort', onLost, { once: true });
      if (lost.aborted) onLost();
      else pump();
    },
    answered: (number, message) => {
      const index = number - first;
      // The answer to a message of an earlier run that was given up.
      if (over || index < 0) return;
      lastAnswerAt = Date.now();
      if (index < settled)
        fail('conflict', 'answers came in another order than the messages were sent in');
      settled = Math.max(settled, index + 1);
      const answer = readAnswer(message, sequence + index + 1);
      if (answer) fail(answer.fault, answer.detail);
      else if (!failure) acknowledged = index + 1;
      pump();
    },
  };
}

/** Headers with the condition: the stream has to end with this sequence. */
function wireHeaders(headers: OutgoingMessage['headers'], sequence: number): MsgHdrs {
  // Made from a record, because setting one by one searches and checks all the names again.
  const wire: Record<string, string[]> = { 'Nats-Expected-Last-Sequence': [String(sequence)] };
  for (const [name, value] of Object.entries(headers)) wire[name] = [value];
  return MsgHdrsImpl.fromRecord(wire);
}

interface Answer {
  readonly seq?: number;
  readonly duplicate?: boolean;
  readonly error?: { readonly err_code?: number; readonly description?: string };
}

/** With and without the sequence that the stream has; newer clusters answer the second. */
const wrongLastSequence: readonly (number | undefined)[] = [10071, 10164];

/**
 * Returns what is wrong with an answer; null when the message is stored as the expected sequence.
 */
function readAnswer(
  message: Msg,
  expected: number,
): { readonly fault: PublishFault; readonly detail: string } | null {
  if (message.data.length === 0) {
    const status = message.headers?.status ?? 'an empty answer';
    return { fault: 'refused', detail: `nobody stores the message: ${status}` };
  }
  const { seq, duplicate, error } = parseAnswer(message);
  if (error) {
    const fault = wrongLastSequence.includes(error.err_code) ? 'conflict' : 'refused';
    return { fault, detail: error.description ?? `error ${error.err_code}` };
  }
  if (duplicate) return { fault: 'duplicate', detail: `stored already as sequence ${seq}` };
  return seq === expected
    ? null
    : { fault: 'conflict', detail: `stored as sequence ${seq} and not as ${expected}` };
}

/** The answer as an object. An answer that is no JSON must not throw inside the client's reader. */
function parseAnswer(message: Msg): Answer {
  try {
    return message.json<Answer>();
  } catch {
    return { error: { description: 'the answer is no JSON' } };
  }
}
