import type { JetStreamManager } from 'nats';
import { unlessAborted } from '../consume/run-forever.ts';
import { type MessagePlace, readPlace } from '../relay/public-message.ts';
import type { NatsSession } from './nats-connection.ts';
import { publicStream, StreamRefused, storedMessage, streamInfo } from './nats-streams.ts';

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
  readonly manager: JetStreamManager;
  /** The promise's outcome, or a rejection as soon as the session is lost. */
  run<Value>(promise: Promise<Value>): Promise<Value>;
}

const requestMilliseconds = 5_000;

/** Makes requests possible over a session. */
export async function jetStreamRequests({
  connection,
  lost,
}: NatsSession): Promise<JetStreamRequests> {
  const manager = await connection.jetstreamManager({
    checkAPI: false,
    timeout: requestMilliseconds,
  });
  return { manager, run: (promise) => unlessAborted(promise, lost) };
}

/** Reads where the public stream ends. Throws when it is missing or cannot be asked. */
export async function readTail({ manager, run }: JetStreamRequests): Promise<Tail> {
  const info = await run(streamInfo(manager));
  if (!info) throw new StreamRefused(`There is no stream ${publicStream}`);
  const identity = `${publicStream} ${info.created}`;
  const sequence = info.state.last_seq;
  // Not by direct get: another replica than the leader may be behind.
  const message = info.state.messages > 0 ? await run(storedMessage(manager, sequence)) : null;
  if (!message) return { identity, sequence, last: null };
  const header = (name: string): string => message.header.get(name);
  return { identity, sequence, last: readPlace({ sequence, subject: message.subject, header }) };
}
