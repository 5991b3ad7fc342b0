import { AckPolicy, createInbox, DeliverPolicy, type Msg, ReplayPolicy } from 'nats';
import { type PublicMessage, readPublicMessage } from '../relay/public-message.ts';
import { type NatsSession, nanoseconds } from './nats-connection.ts';
import { publicStream } from './nats-streams.ts';
import type { JetStreamRequests } from './nats-tail.ts';

/** The broker has given up the consumer, or does not answer: make another one. */
export class PullEnded extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'PullEnded';
  }
}

export interface PullOptions {
  /** Sequence of the first message wanted. */
  readonly from: number;
  /** Messages in one batch, and asked for at once. Twice as many may be kept in memory. */
  readonly maximum: number;
  readonly signal: AbortSignal;
  /** Subjects of the messages wanted; all when absent. */
  readonly filter?: string;
}

/** Messages on their way from the broker. */
export interface Pull extends Inlet {
  /** The number of them that the stream held at the beginning. */
  readonly pending: number;
}

const pullMilliseconds = 30_000;
const heartbeatMilliseconds = 5_000;
/** Three heart beats may be missed. */
const silenceMilliseconds = 15_000;
const unusedMilliseconds = 60_000;
/** Bounds the memory of one request when bodies are long. */
const pullBytes = 16 * 1024 * 1024;

/**
 * Reads the stream from a sequence on, in batches of what has arrived, until the signal aborts.
 * It asks for more only while little is waiting, so a slow reader holds nothing up but itself.
 * Throws `PullEnded` when the broker has dropped the consumer.
 *
 * It does not use the client's ordered consumer, which goes on by itself after a loss: here each
 * new start has to be checked against the stream first.
 */
export async function* pullMessages(
  session: NatsSession,
  requests: JetStreamRequests,
  options: PullOptions,
): AsyncGenerator<readonly PublicMessage[]> {
  const pull = await openPull(session, requests, options);
  try {
    for (;;) {
      const batch = await pull.take();
      if (!batch) return;
      yield batch;
    }
  } finally {
    pull.close();
  }
}

/** Begins to read as `pullMessages` does, and tells how much there is. To be closed. */
export async function openPull(
  session: NatsSession,
  { manager, run }: JetStreamRequests,
  { from, maximum, signal, filter }: PullOptions,
): Promise<Pull> {
  const consumer = await run(
    manager.consumers.add(publicStream, {
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: from,
      ack_policy: AckPolicy.None,
      replay_policy: ReplayPolicy.Instant,
      mem_storage: true,
      num_replicas: 1,
      inactive_threshold: nanoseconds(unusedMilliseconds),
      ...(filter === undefined ? {} : { filter_subject: filter }),
    }),
  );
  const inlet = openInlet(session, consumer.name, maximum, signal);
  return {
    pending: consumer.num_pending,
    take: inlet.take,
    close: () => {
      inlet.close();
      manager.consumers.delete(publicStream, consumer.name).catch(() => {});
    },
  };
}

interface Inlet {
  /**
   * Waits for messages and returns those that have arrived; null when the signal aborts. Throws
   * `PullEnded`.
   */
  take(): Promise<readonly PublicMessage[] | null>;
  close(): void;
}

function openInlet(
  { connection }: NatsSession,
  consumer: string,
  maximum: number,
  signal: AbortSignal,
): Inlet {
  const inbox = createInbox();
  const request = JSON.stringify({
    batch: maximum,
    max_bytes: pullBytes,
    expires: nanoseconds(pullMilliseconds),
    idle_heartbeat: nanoseconds(heartbeatMilliseconds),
  });
  let waiting: PublicMessage[] = [];
  let outstanding = 0;
  let failure: unknown = null;
  let heardAt = Date.now();
  let wake: (() => void) | null = null;

  const wakeUp = (): void => {
    wake?.();
    wake = null;
  };
  const fail = (error: unknown): void => {
    failure ??= error;
    wakeUp();
  };
  const ask = (): void => {
    if (outstanding > 0 || waiting.length >= maximum || signal.aborted) return;
    outstanding = maximum;
    heardAt = Date.now();
    connection.publish(`$JS.API.CONSUMER.MSG.NEXT.${publicStream}.${consumer}`, request, {
      reply: inbox,
    });
  };
  const receive = (message: Msg): void => {
    heardAt = Date.now();
    const status = message.subject === inbox ? (message.headers?.code ?? 0) : 0;
    if (status === 100) return;
    if (status > 0) {
      const description = message.headers?.description ?? '';
      if (!endsRequestOnly(status, description)) {
        fail(new PullEnded(`NATS ended the reading: ${status} ${description}`));
        return;
      }
      outstanding = 0;
    } else {
      waiting.push(readPublicMessage(rawMessage(message)));
      outstanding -= 1;
      wakeUp();
    }
    ask();
  };
  const subscription = connection.subscribe(inbox, {
    callback: (error, message) => {
      try {
        if (error) throw error;
        receive(message);
      } catch (cause) {
        fail(cause);
      }
    },
  });
  const timer = setInterval(() => {
    if (outstanding === 0 || Date.now() - heardAt < silenceMilliseconds) return;
    fail(new PullEnded(`NATS has been silent for ${silenceMilliseconds} ms`));
  }, heartbeatMilliseconds);
  signal.addEventListener('abort', wakeUp, { once: true });
  return {
    take: async () => {
      if (waiting.length === 0 && !failure && !signal.aborted) {
        ask();
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      if (signal.aborted) return null;
      if (waiting.length === 0 && failure) throw failure;
      const batch = waiting.slice(0, maximum);
      waiting = waiting.slice(maximum);
      ask();
      return batch;
    },
    close: () => {
      clearInterval(timer);
      signal.removeEventListener('abort', wakeUp);
      subscription.unsubscribe();
    },
  };
}

/** Tells whether a status only ends the request for messages, so that the next one can follow. */
const endsRequestOnly = (status: number, description: string): boolean =>
  status === 404 ||
  status === 408 ||
  (status === 409 && /exceeds maxbytes|batch completed/i.test(description));

const rawMessage = ({ subject, headers, data, reply = '' }: Msg) => ({
  sequence: sequenceOf(reply),
  subject,
  header: (name: string): string => headers?.get(name) ?? '',
  body: data,
});

/**
 * The sequence in the stream, from the subject that an acknowledgement would go to. It is the
 * sixth word, or the eighth where the domain and the account come first.
 */
function sequenceOf(reply: string): number {
  const words = reply.split('.');
  const sequence = Number(words[words.length === 9 ? 5 : 7]);
  if (!reply.startsWith('$JS.ACK.') || !Number.isSafeInteger(sequence) || sequence < 1) {
    throw new PullEnded(`NATS delivered a message with the reply subject ${reply}`);
  }
  return sequence;
}
