import { BrokenInvariant, invalidOperation, Problem } from '@counterfoil/kernel';
import type { FeedEvent, FeedPage, FeedScope, PublicFeed } from '../define/public-feed.ts';
import type { Log } from '../operations/log.ts';
import type { Nats } from './nats-connection.ts';
import { openPull } from './nats-pull.ts';
import { type JetStreamRequests, jetStreamRequests } from './nats-tail.ts';
import type { PublicMessage } from './public-message.ts';
import { sequenceAfter } from './sequence-after.ts';
import { environmentSubjects } from './subject.ts';

/** How long one page may take before the caller is told to try again. */
const pageMilliseconds = 5_000;

/** The feed of public events that the stream on NATS keeps. */
export const natsFeed = (nats: Nats, log: Log): PublicFeed => ({
  read: async (scope, after, limit) => {
    const signal = AbortSignal.timeout(pageMilliseconds);
    try {
      return await readPage(nats, scope, { after, limit, signal });
    } catch (error) {
      if (error instanceof Problem || error instanceof BrokenInvariant) throw error;
      log.warn({ err: error }, 'the event feed cannot be read');
      throw new Problem('service_unavailable', 'The event feed cannot be read. Retry shortly.', {
        retryAfterSeconds: 1,
      });
    }
  },
});

interface PageRequest {
  readonly after: string | null;
  readonly limit: number;
  readonly signal: AbortSignal;
}

async function readPage(
  nats: Nats,
  scope: FeedScope,
  { after, limit, signal }: PageRequest,
): Promise<FeedPage> {
  const session = await nats.session(signal);
  const requests = await jetStreamRequests(session);
  const from = await startOf(requests, after);
  const filter = environmentSubjects(scope);
  const ended = AbortSignal.any([signal, session.lost]);
  const pull = await openPull(session, requests, {
    from,
    maximum: limit,
    filter,
    signal: ended,
  });
  try {
    const messages: PublicMessage[] = [];
    // A page that ends within the messages of one event goes on to the last of them.
    while (messages.length < pull.pending && (messages.length < limit || isTorn(messages))) {
      const batch = await pull.take();
      if (!batch) throw ended.reason;
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
