import { BrokenInvariant, invalidOperation, Problem } from '@counterfoil/kernel';
import { orIdle } from '../consume/or-idle.ts';
import { unlessAborted } from '../consume/run-forever.ts';
import type { EventBroker } from '../define/event-broker.ts';
import type { FeedEvent, FeedPage, FeedRequest, FeedScope } from '../define/public-feed.ts';
import { feedSubjects } from '../define/subject.ts';
import { beyondLog } from '../log/position.ts';
import type { Position } from '../log/types.ts';
import type { Log } from '../operations/log.ts';
import { ForeignMessage, type MessagePlace, type PublicMessage } from '../relay/public-message.ts';
import { firstKept, type StreamPlace, sequenceAfter } from '../relay/sequence-after.ts';
import type { Nats } from './nats-connection.ts';
import { openPull } from './nats-pull.ts';
import { durableStatus, ensureDurable, removeDurable } from './nats-readers.ts';
import { type JetStreamRequests, jetStreamRequests, readTail } from './nats-tail.ts';

/** The time that one request to the broker may take before the caller is told to try again. */
const requestMilliseconds = 5_000;

/** The broker of public events over a connection to NATS; `head` tells where the log ends. */
export function natsBroker(nats: Nats, log: Log, head: () => Promise<Position>): EventBroker {
  const ask = async <Answer>(
    request: (requests: JetStreamRequests, ended: AbortSignal) => Promise<Answer>,
  ): Promise<Answer> => {
    const signal = AbortSignal.timeout(requestMilliseconds);
    try {
      const session = await nats.session(signal);
      const ended = AbortSignal.any([signal, session.lost]);
      const requests = await jetStreamRequests(session);
      return await unlessAborted(request(requests, ended), ended);
    } catch (error) {
      if (error instanceof ForeignMessage) {
        log.error({ err: error }, 'the public stream holds a message that is not of the relay');
        throw new Problem(
          'service_unavailable',
          'The public events cannot be read until an operator has mended their stream.',
          { retryAfterSeconds: 60 },
        );
      }
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
    read: (scope, request) =>
      ask((requests, signal) => readPage(requests, scope, { ...request, signal, head })),
    lastPosition: () =>
      ask(async (requests) => String((await readTail(requests)).last?.position ?? 0)),
    ensureReader: (reader) =>
      ask((requests) =>
        ensureDurable(requests, reader, () => {
          const { name, scope, start } = reader;
          const what =
            'a reader begins with the oldest event: those where it should begin are gone';
          log.warn({ name, scope, start }, what);
        }),
      ),
    readerStatus: (name) => ask((requests) => durableStatus(requests, name)),
    removeReader: (name) => ask((requests) => removeDurable(requests, name)),
  };
}

interface PageRequest extends FeedRequest {
  readonly signal: AbortSignal;
  readonly head: () => Promise<Position>;
}

/** The number of attempts to read a page while messages are dropped meanwhile. */
const readTries = 3;

async function readPage(
  requests: JetStreamRequests,
  scope: FeedScope,
  request: PageRequest,
): Promise<FeedPage> {
  const { after } = request;
  for (let attempt = 0; attempt < readTries; attempt += 1) {
    // Looked up before the reading: when all that waits has been read, nothing before this end is
    // missing.
    const { last, sequence: end } = await readTail(requests);
    await refuseBeyond(request, last?.position ?? 0n);
    const { sequence: from, oldest } = await startOf(requests, after);
    const read = await readMessages(requests, scope, { ...request, from, end });
    const first = await firstKept(requests);
    // When nothing is kept any more, messages dropped since the end was looked up cannot be
    // noticed.
    const whole = oldest === null ? 0n : wholeUpTo(last);
    const page = { ...request, ...read, whole };
    // Messages that were dropped meanwhile may have been passed over. Where the page begins with
    // the oldest message, that is another one now; else the next try shows whether the caller
    // misses any.
    if (after !== null && first > from) continue;
    const found = pageOf(after === null ? { ...page, ...wholeEventsFrom(read, first) } : page);
    // Before the oldest message there is no place to go on from.
    if (after !== null || found.nextPosition !== '0' || !found.hasMore) return found;
  }
  throw new Error('the beginning of a page of the public stream does not hold still');
}

/**
 * Throws 400 when the log has not reached a position yet. One that the relay has not reached is a position
 * of the log all the same: callers have it from the answer to a write.
 */
async function refuseBeyond({ after, head }: PageRequest, published: Position): Promise<void> {
  if (after === null || BigInt(after) <= published) return;
  const newest = await head();
  if (BigInt(after) <= newest) return;
  throw beyondLog(after, newest);
}

/** Returns the position up to which the messages of every event are in the stream. */
function wholeUpTo(last: MessagePlace | null): Position {
  if (!last) return 0n;
  return last.index + 1 < last.count ? last.position - 1n : last.position;
}

/** The messages that a reading brought. */
interface Reading {
  readonly messages: readonly PublicMessage[];
  /** True when more may come after them, false when they are all that the stream held at the beginning. */
  readonly hasMore: boolean;
}

interface Stretch {
  /** Sequence of the first message of the stream that is looked at. */
  readonly from: number;
  /** Sequence of the last message of the stream before the reading. */
  readonly end: number;
}

/** Times for which nothing may come until the broker is asked whether there is anything more. */
const idleWaits = { firstMilliseconds: 2, lastMilliseconds: 250 };

async function readMessages(
  requests: JetStreamRequests,
  scope: FeedScope,
  { from, end, limit, signal, type, resourceId }: PageRequest & Stretch,
): Promise<Reading> {
  if (from > end) return { messages: [], hasMore: false };
  const filter = feedSubjects(scope, { type, resourceId });
  const pull = await openPull(requests, { from, maximum: limit, filters: [filter], signal });
  try {
    const messages: PublicMessage[] = [];
    const isLevel = async (): Promise<boolean> =>
      (messages.at(-1)?.sequence ?? 0) >= end || (await pull.isLevel(messages.length, end));
    // A page that ends within the messages of one event goes on to the last of them.
    const isFull = (): boolean =>
      messages.length >= limit && (isLastOfEvent(messages.at(-1)) || cutOf(messages, limit) > 0);
    for await (const batch of orIdle(pull.batches, idleWaits)) {
      messages.push(...(batch ?? []));
      if (isFull()) return { messages, hasMore: !(await isLevel()) };
      const mayBeAll = batch === null || (messages.at(-1)?.sequence ?? 0) >= end;
      if (mayBeAll && (await isLevel())) return { messages, hasMore: false };
    }
    throw signal.reason;
  } finally {
    pull.close();
  }
}

/**
 * Returns what a reading brought from a sequence on, without the messages of an event that began
 * before it.
 */
function wholeEventsFrom({ messages, hasMore }: Reading, first: number): Reading {
  const start = messages.findIndex(({ sequence, index }) => sequence - index >= first);
  return { messages: start < 0 ? [] : messages.slice(start), hasMore };
}

async function startOf(requests: JetStreamRequests, after: string | null): Promise<StreamPlace> {
  const place = await sequenceAfter(requests, after === null ? null : BigInt(after));
  if (!place.isIncomplete) return place;
  throw invalidOperation(
    `Events after position ${after} are no longer kept. Read the records again, then continue from ` +
      'the Counterfoil-Position of those answers.',
    { reason: 'no_longer_kept', oldest_position: String(place.oldest ?? '') },
  );
}

interface PageParts extends Reading, Pick<PageRequest, 'after' | 'limit'> {
  /** The position up to which the stream was whole before the reading. */
  readonly whole: Position;
}

/**
 * Cuts where an event begins, so that its messages stay together: the next page starts after the
 * position that they share. An event of which the relay has published only some waits.
 *
 * A caller that has got everything goes on from the end of the stream, and not from its own last event:
 * that one may be dropped long before the next one comes, and then nobody could tell whether any was missed.
 */
function pageOf({ messages, hasMore, after, limit, whole }: PageParts): FeedPage {
  const cut = cutOf(messages, limit);
  const kept = cut < 0 ? withoutTornEnd(messages, whole) : messages.slice(0, cut);
  const isAll = kept.length === messages.length && !hasMore;
  const reached = kept.at(-1)?.position ?? BigInt(after ?? '0');
  return {
    events: kept.map(feedEvent),
    nextPosition: String(isAll && whole > reached ? whole : reached),
    hasMore: !isAll,
  };
}

/** Returns the first place from `limit` on at which another event begins; -1 when there is none. */
const cutOf = (messages: readonly PublicMessage[], limit: number): number =>
  messages.findIndex(
    ({ position }, place) => place >= limit && position !== messages[place - 1]?.position,
  );

const isLastOfEvent = (message: PublicMessage | undefined): boolean =>
  message !== undefined && message.index + 1 === message.count;

/** Leaves out the last event unless all its messages that are wanted are sure to be there. */
function withoutTornEnd(
  messages: readonly PublicMessage[],
  whole: Position,
): readonly PublicMessage[] {
  const last = messages.at(-1);
  if (!last || last.position <= whole || isLastOfEvent(last)) return messages;
  return messages.filter(({ position }) => position !== last.position);
}

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
