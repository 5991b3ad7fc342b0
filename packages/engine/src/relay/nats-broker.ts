import { BrokenInvariant, invalidOperation, Problem } from '@counterfoil/kernel';
import type { EventBroker } from '../define/event-broker.ts';
import type { FeedEvent, FeedPage, FeedScope } from '../define/public-feed.ts';
import type { Log } from '../operations/log.ts';
import type { Nats, NatsSession } from './nats-connection.ts';
import { openPull } from './nats-pull.ts';
import { durableStatus, ensureDurable, removeDurable } from './nats-readers.ts';
import { type JetStreamRequests, jetStreamRequests, readTail } from './nats-tail.ts';
import { unlessAborted } from './pause.ts';
import type { PublicMessage } from './public-message.ts';
import { sequenceAfter } from './sequence-after.ts';
import { environmentSubjects } from './subject.ts';

/** How long one request to the broker may take before the caller is told to try again. */
const requestMilliseconds = 5_000;

/** The broker of public events over a connection to NATS. */
export function natsBroker(nats: Nats, log: Log): EventBroker {
  const ask = async <Answer>(
    request: (
      requests: JetStreamRequests,
      session: NatsSession,
      ended: AbortSignal,
    ) => Promise<Answer>,
  ): Promise<Answer> => {
    const signal = AbortSignal.timeout(requestMilliseconds);
    try {
      const session = await nats.session(signal);
      const ended = AbortSignal.any([signal, session.lost]);
      const requests = await jetStreamRequests(session);
      return await unlessAborted(request(requests, session, ended), ended);
    } catch (error) {
      if (error instanceof Problem || error instanceof BrokenInvariant) throw error;
      log.warn({ err: error }, 'NATS cannot be asked');
      throw new Problem(
        'service_unavailable',
        'The broker of public events cannot be asked. Retry shortly.',
        { retryAfterSeconds: 1 },
      );
    }
  };
  return {
    read: (scope, after, limit) =>
      ask((requests, session, signal) =>
        readPage(requests, session, scope, { after, limit, signal }),
      ),
    lastPosition: () =>
      ask(async (requests) => String((await readTail(requests)).last?.position ?? 0)),
    ensureReader: (reader) => ask((requests) => ensureDurable(requests, reader)),
    readerStatus: (name) => ask((requests) => durableStatus(requests, name)),
    removeReader: (name) => ask((requests) => removeDurable(requests, name)),
  };
}

interface PageRequest {
  readonly after: string | null;
  readonly limit: number;
  readonly signal: AbortSignal;
}

async function readPage(
  requests: JetStreamRequests,
  session: NatsSession,
  scope: FeedScope,
  { after, limit, signal }: PageRequest,
): Promise<FeedPage> {
  const from = await startOf(requests, after);
  const filter = environmentSubjects(scope);
  const pull = await openPull(session, requests, {
    from,
    maximum: limit,
    filter,
    signal,
  });
  try {
    const messages: PublicMessage[] = [];
    // A page that ends within the messages of one event goes on to the last of them.
    while (messages.length < pull.pending && (messages.length < limit || isTorn(messages))) {
      const batch = await pull.take();
      if (!batch) throw signal.reason;
      messages.push(...batch);
    }
    return pageOf(messages, after, limit, pull.pending);
  } finally {
    pull.close();
  }
}

async function startOf(requests: JetStreamRequests, after: string | null): Promise<number> {
  const place = await sequenceAfter(requests, after === null ? null : BigInt(after));
  if (!place.isIncomplete) return place.sequence;
  throw invalidOperation(
    `Events after position ${after} are no longer kept. Read the records anew, then go on from ` +
      'the Counterfoil-Position of those answers.',
    { oldest_position: String(place.oldest ?? '') },
  );
}

/**
 * Cuts where an event begins, so that its messages stay together: the next page starts after the
 * position that they share. An event of which the relay has published only some waits.
 */
function pageOf(
  messages: readonly PublicMessage[],
  after: string | null,
  limit: number,
  pending: number,
): FeedPage {
  const following = messages.findIndex(({ index }, place) => place >= limit && index === 0);
  const kept = following < 0 ? withoutTornEnd(messages) : messages.slice(0, following);
  return {
    events: kept.map(feedEvent),
    nextPosition: String(kept.at(-1)?.position ?? after ?? '0'),
    hasMore: pending > kept.length,
  };
}

/** Whether the last message is not the last one of its event. */
function isTorn(messages: readonly PublicMessage[]): boolean {
  const last = messages.at(-1);
  return last !== undefined && last.index + 1 < last.count;
}

const withoutTornEnd = (messages: readonly PublicMessage[]): readonly PublicMessage[] =>
  isTorn(messages)
    ? messages.filter(({ position }) => position !== messages.at(-1)?.position)
    : messages;

const feedEvent = (message: PublicMessage): FeedEvent => ({
  id: message.id,
  type: message.type,
  resourceId: message.resourceId,
  occurredAt: message.occurredAt,
  position: String(message.position),
  stream: message.stream,
  revision: message.revision,
  body: JSON.parse(Buffer.from(message.body).toString('utf8')),
});
