import type { JetStreamManager, NatsConnection, StreamInfo } from 'nats';
import { unlessAborted } from '../consume/run-forever.ts';
import { publicStream } from '../define/subject.ts';
import { type MessagePlace, readPlace } from '../relay/public-message.ts';
import type { NatsSession } from './nats-connection.ts';
import { StreamRefused, streamInfo, unlessMissing } from './nats-streams.ts';

/** The end of the public stream. */
export interface Tail {
  /** Name and time of creation: another stream of the same name is another stream. */
  readonly identity: string;
  /** Sequence of the last message ever stored; 0 in a new stream. */
  readonly sequence: number;
  /** The place in the log that the last message comes from; null when none is kept. */
  readonly last: MessagePlace | null;
}

/** The client's JetStream requests over one session; they fail when it is lost. */
export interface JetStreamRequests {
  readonly connection: NatsConnection;
  readonly manager: JetStreamManager;
  /** The promise's outcome, or a rejection as soon as the session is lost. */
  run<Value>(promise: Promise<Value>): Promise<Value>;
}

const requestMilliseconds = 5_000;
const messageNotFound = 10037;

/** Makes requests possible over a session. */
export async function jetStreamRequests({
  connection,
  lost,
}: NatsSession): Promise<JetStreamRequests> {
  const manager = await connection.jetstreamManager({
    checkAPI: false,
    timeout: requestMilliseconds,
  });
  return { connection, manager, run: (promise) => unlessAborted(promise, lost) };
}

/** The server's account of the public stream. Throws `StreamRefused` when there is none. */
export async function streamInfoOf(requests: JetStreamRequests): Promise<StreamInfo> {
  const info = await requests.run(streamInfo(requests.manager));
  if (!info) throw new StreamRefused(`There is no stream ${publicStream}`);
  return info;
}

/** The place in the log that a message of the public stream comes from; null when it is not kept. */
export async function messagePlace(
  { manager, run }: JetStreamRequests,
  sequence: number,
): Promise<MessagePlace | null> {
  // Not by direct get: another replica than the leader may be behind.
  const request = () => manager.streams.getMessage(publicStream, { seq: sequence });
  const message = await run(unlessMissing(messageNotFound, request));
  if (!message) return null;
  const header = (name: string): string => message.header.get(name);
  return readPlace({ sequence, subject: message.subject, header });
}

/** Reads where the public stream ends. Throws when it is missing or cannot be asked. */
export async function readTail(requests: JetStreamRequests): Promise<Tail> {
  const { created, state } = await streamInfoOf(requests);
  const sequence = state.last_seq;
  const last = state.messages > 0 ? await messagePlace(requests, sequence) : null;
  return { identity: `${publicStream} ${created}`, sequence, last };
}
