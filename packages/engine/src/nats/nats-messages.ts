import type { Msg } from 'nats';
import { sleep, unlessAborted } from '../consume/run-forever.ts';
import type { Nats, NatsSession } from './nats-connection.ts';

/** A message as it arrived. */
export interface Message {
  readonly subject: string;
  readonly bytes: Uint8Array;
  /** True when it says that nobody listened to a message whose answer was to come to this subject. */
  readonly isUndelivered: boolean;
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
  close(): Promise<void>;
}

interface MessagesOptions {
  /** The subjects that are listened to; `>` at the end stands for any further words. */
  readonly subjects: readonly string[];
  /** Takes a message. It must not throw. */
  readonly take: (message: Message) => void;
  /** Told when messages arrive, and again after every loss of the connection. */
  readonly onOpen?: () => void;
}

const noResponders = 503;

/** Sends and takes messages over a connection, whenever there is one. */
export function openMessages(nats: Nats, { subjects, take, onOpen }: MessagesOptions): Messages {
  const closing = new AbortController();
  const { signal } = closing;
  let session: NatsSession | null = null;
  const callback = (error: Error | null, message: Msg): void => {
    if (error) return;
    const { subject, data: bytes, headers } = message;
    take({ subject, bytes, isUndelivered: headers?.code === noResponders });
  };
  const listen = async (): Promise<void> => {
    // After a loss the client reopens the subscriptions of the same connection by itself.
    const listening = new WeakSet<object>();
    while (!signal.aborted) {
      const current = await nats.session(signal);
      const { connection, lost } = current;
      if (!listening.has(connection)) {
        for (const subject of subjects) connection.subscribe(subject, { callback });
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
    async close() {
      closing.abort();
      await listening;
    },
  };
}
