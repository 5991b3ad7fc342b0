import { setImmediate as nextTurn } from 'node:timers/promises';
import { AckPolicy, DeliverPolicy, type JsMsg, ReplayPolicy } from 'nats';
import { publicStream } from '../define/subject.ts';
import { type PublicMessage, readPublicMessage } from '../relay/public-message.ts';
import { nanoseconds } from './nats-connection.ts';
import type { JetStreamRequests } from './nats-tail.ts';
import { unbroken } from './nats-unbroken.ts';

export interface PullOptions {
  /** Sequence of the first message wanted. */
  readonly from: number;
  /** Messages in one batch. About as many may wait in memory. */
  readonly maximum: number;
  readonly signal: AbortSignal;
  /**
   * Subjects of the messages wanted, at least one; all when absent. A server before 2.10 takes one only: of
   * several, every message comes.
   */
  readonly filters?: readonly string[];
}

/**
 * Messages on their way from the broker. To be closed. The broker's own count of those that wait is not part of it: of a
 * stream that several environments share, nats-server 2.9 counts one or two too many or too few from time to time.
 */
export interface Pull {
  /**
   * Batches of what has arrived, until the signal aborts. Asks the broker for more only as these are
   * taken, so a slow reader holds nothing up but itself. Throws when the broker has dropped the consumer
   * or has fallen silent.
   */
  readonly batches: AsyncIterable<readonly PublicMessage[]>;
  /**
   * Tells whether of the messages up to a sequence no more than so many are wanted, which have been taken: the broker
   * has looked at them. At later ones that are not wanted it does not look, but it counts them well, so its count is
   * believed from the end on that the stream had before the first batch was asked for (`held`).
   */
  isLevel(taken: number, sequence: number, held?: number): Promise<boolean>;
  close(): void;
}

const pullMilliseconds = 30_000;
/** A broker is silent after two of these. */
const heartbeatMilliseconds = 2_000;
const unusedMilliseconds = 60_000;
/** Messages asked for at once; it bounds what the broker has to keep ready when bodies are long. */
const askedMaximum = 128;

/**
 * Begins to read the stream from a sequence on. It does not use the client's ordered consumer, which
 * continues by itself after a loss: here each new start has to be checked against the stream first.
 */
export async function openPull(
  { connection, manager, run }: JetStreamRequests,
  { from, maximum, signal, filters }: PullOptions,
): Promise<Pull> {
  const info = await run(
    manager.consumers.add(publicStream, {
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: from,
      ack_policy: AckPolicy.None,
      replay_policy: ReplayPolicy.Instant,
      mem_storage: true,
      num_replicas: 1,
      inactive_threshold: nanoseconds(unusedMilliseconds),
      ...filtering(filters, connection.info?.version ?? ''),
    }),
  );
  const messages = await connection
    .jetstream()
    .consumers.getPullConsumerFor(info)
    .consume({
      max_messages: Math.min(maximum, askedMaximum),
      expires: pullMilliseconds,
      idle_heartbeat: heartbeatMilliseconds,
      abort_on_missing_resource: true,
    });
  const stop = (): void => messages.stop();
  signal.addEventListener('abort', stop, { once: true });
  // A signal that aborted meanwhile calls no listener any more.
  if (signal.aborted) stop();
  return {
    batches: batchesOf(unbroken(messages), maximum, signal),
    isLevel: async (taken, sequence, held = sequence) => {
      const { delivered, num_pending } = await run(manager.consumers.info(publicStream, info.name));
      const looked = delivered.stream_seq;
      const isThrough = looked >= sequence || (looked >= held && num_pending === 0);
      return isThrough && delivered.consumer_seq === taken;
    },
    close: () => {
      signal.removeEventListener('abort', stop);
      stop();
      manager.consumers.delete(publicStream, info.name).catch(() => {});
    },
  };
}

function filtering(filters: readonly string[] | undefined, serverVersion: string) {
  if (filters === undefined) return {};
  const [filter] = filters;
  if (filters.length === 1 && filter !== undefined) return { filter_subject: filter };
  const [major = 0, minor = 0] = serverVersion.split('.').map(Number);
  return major > 2 || (major === 2 && minor >= 10) ? { filter_subjects: [...filters] } : {};
}

/** The items of an iterable that are there together, in lists of at most so many. */
async function* batchesOf(
  messages: AsyncIterable<JsMsg>,
  maximum: number,
  signal: AbortSignal,
): AsyncGenerator<readonly PublicMessage[]> {
  const iterator = messages[Symbol.asyncIterator]();
  const ask = (): Promise<IteratorResult<JsMsg>> => {
    const next = iterator.next();
    // A failure is thrown when the next batch is taken, and must not end the process before.
    next.catch(() => {});
    return next;
  };
  for (let next = ask(); ; ) {
    const first = await next;
    if (first.done || signal.aborted) return;
    const batch = [messageOf(first.value)];
    const noMore = nextTurn(null);
    for (next = ask(); batch.length < maximum; next = ask()) {
      const more = await Promise.race([next, noMore]);
      if (!more || more.done) break;
      batch.push(messageOf(more.value));
    }
    yield batch;
  }
}

const messageOf = ({ seq, subject, headers, data }: JsMsg): PublicMessage =>
  readPublicMessage({
    sequence: seq,
    subject,
    header: (name) => headers?.get(name) ?? '',
    body: data,
  });
