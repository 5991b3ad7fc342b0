import { Match, type Msg, type Subscription } from 'nats';
import { sleep, unlessAborted } from '../consume/run-forever.ts';
import type { Nats, NatsSession } from './nats-connection.ts';

/** A message as it arrived. */
export interface Message {
  readonly subject: string;
  readonly bytes: Uint8Array;
  /** The subject to which its sender wants an answer; null for none. */
  readonly replyTo: string | null;
  /** True when it says that nobody listened to a message whose answer was to come to this subject. */
  readonly isUndelivered: boolean;
  /** The first value of a header, whatever the case of its name; undefined for none. */
  header(name: string): string | undefined;
}

/** Messages between processes that are there at the same time. None is kept: whoever is away misses them. */
export interface Messages {
  /**
   * Sends a message; false when there is no connection or the message is too large for the broker.
   * With `undeliveredTo`, that subject hears when nobody listens.
   */
  send(subject: string, bytes: Uint8Array, undeliveredTo?: string): boolean;
  /** True while messages arrive. */
  isOpen(): boolean;
  /** Listens no more. Messages that are on their way are still taken before it resolves, and it can still send. */
  stop(): Promise<void>;
  close(): Promise<void>;
}

interface MessagesOptions {
  /** The subjects that are listened to; `>` at the end stands for any further words. */
  readonly subjects: readonly string[];
  /** Of all processes that listen under this name, one gets each message; every one of them when absent. */
  readonly queue?: string;
  /** Takes a message. It must not throw. */
  readonly take: (message: Message) => void;
  /** Told when messages arrive, and again after every loss of the connection. */
  readonly onOpen?: () => void;
}

const noResponders = 503;

/** Sends and takes messages over a connection, whenever there is one. */
export function openMessages(
  nats: Nats,
  { subjects, queue, take, onOpen }: MessagesOptions,
): Messages {
  const closing = new AbortController();
  const { signal } = closing;
  let session: NatsSession | null = null;
  let subscriptions: readonly Subscription[] = [];
  const callback = (error: Error | null, message: Msg): void => {
    if (error) return;
    const { subject, data: bytes, reply, headers } = message;
    const header = (name: string) => headers?.get(name, Match.IgnoreCase) || undefined;
    const isUndelivered = headers?.code === noResponders;
    take({ subject, bytes, replyTo: reply || null, isUndelivered, header });
  };
  const options = { callback, ...(queue === undefined ? {} : { queue }) };
  const listen = async (): Promise<void> => {
    // After a loss the client reopens the subscriptions of the same connection by itself.
    const listening = new WeakSet<object>();
    while (!signal.aborted) {
      const current = await nats.session(signal);
      const { connection, lost } = current;
      if (!listening.has(connection)) {
        subscriptions = subjects.map((subject) => connection.subscribe(subject, options));
        listening.add(connection);
      }
      session = current;
      onOpen?.();
      await unlessAborted(new Promise<never>(() => {}), AbortSignal.any([lost, signal])).catch(
        () => undefined,
      );
      session = null;
      // The next session is there as soon as the client has another connection.
      await sleep(1, signal);
    }
  };
  const listening = listen().catch(() => undefined);
  return {
    send: (subject, bytes, undeliveredTo) => {
      if (!session || session.lost.aborted) return false;
      const { connection } = session;
      const maximum = connection.info?.max_payload ?? 0;
      if (bytes.byteLength > maximum || connection.isClosed()) return false;
      connection.publish(subject, bytes, undeliveredTo ? { reply: undeliveredTo } : {});
      return true;
    },
    isOpen: () => session !== null && !session.lost.aborted,
    async stop() {
      if (!session) return;
      const drained = Promise.all(subscriptions.map((subscription) => subscription.drain()));
      // Without the connection nothing is on its way.
      await unlessAborted(drained, session.lost).catch(() => undefined);
    },
    async close() {
      closing.abort();
      await listening;
    },
  };
}
