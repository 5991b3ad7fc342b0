import { BrokenInvariant } from '@counterfoil/kernel';
import { createBackOff } from '../consume/run-forever.ts';
import { createAnnexReader, isAnnexed } from './annex.ts';
import { batchesOfCall, type OpenCall } from './call-batches.ts';
import { createOrderCheck, followLog } from './follow.ts';
import { incomingEvent } from './incoming-event.ts';
import { atEvent, positionOf } from './position.ts';
import type { ReadMessage, WireEvent } from './read-message.ts';
import { shared } from './shared.ts';
import { parseStreamName } from './stream-name.ts';
import {
  type CheckpointRate,
  type EventStore,
  type LogItem,
  type Position,
  type StoredEvent,
  StoreUnavailable,
  type SubscriptionOptions,
  type UnreadEvent,
} from './types.ts';

/** The part of the event store's client that reading needs. All calls give lists of `ReadMessage`. */
export interface ReadClient {
  /** Events of a stream: forwards from a revision, or only the last. */
  readStream(stream: string, from: number | 'last', maximum: number): OpenCall;
  /** The last event of the whole log, of any stream. */
  readLast(): OpenCall;
  /** The events after a position in streams with one of the prefixes, and checkpoints between them. */
  subscribe(prefixes: readonly string[], after: Position, checkpoints: CheckpointRate): OpenCall;
}

export interface ReaderOptions {
  readonly client: ReadClient;
  /** A call fails when the store sends nothing for this many milliseconds while we wait for it. */
  readonly timeoutMs: number;
  /** Aborts when the event store is closed. */
  readonly closing: AbortSignal;
}

/** Waits between subscriptions: the first is short, later ones take up to five seconds. */
const resubscription = { firstMilliseconds: 100, lastMilliseconds: 5_000 };
/** Events that a read hands on together. */
const readBatch = 500;
/** The most items that a caller of `follow` may ask for in one batch. */
const followMaximum = 10_000;

/** The reading half of the event store. */
export function createReader(
  options: ReaderOptions,
): Pick<EventStore, 'readStream' | 'readLast' | 'readLog' | 'follow' | 'head'> {
  const { client, closing } = options;
  const head = shared(async (): Promise<Position> => {
    const positions = await lastBatch(positionsOfCall(options));
    return positions[0] ?? 0n;
  });
  return {
    head,
    readStream: (stream, { from = 0, maximum = Number.MAX_SAFE_INTEGER } = {}) => {
      assertWithin('from', from, 0, Number.MAX_SAFE_INTEGER);
      assertWithin('maximum', maximum, 1, Number.MAX_SAFE_INTEGER);
      return flat(batchesOfStream(options, stream, () => client.readStream(stream, from, maximum)));
    },
    readLast: async (stream) => {
      const [event] = await lastBatch(
        batchesOfStream(options, stream, () => client.readStream(stream, 'last', 1)),
      );
      return event ?? null;
    },
    readLog: ({ prefixes, after, upTo, signal }) => {
      const signals = signal ? [closing, signal] : [closing];
      return eventsUpTo(subscription(options, { prefixes, after, signals }), after, upTo);
    },
    follow: (request, maximum) => {
      assertWithin('maximum', maximum, 1, followMaximum);
      return followWith(options, request, maximum);
    },
  };
}

function assertWithin(name: string, value: number, minimum: number, maximum: number): void {
  if (Number.isInteger(value) && value >= minimum && value <= maximum) return;
  throw new BrokenInvariant(`${name} is ${value}, not a whole number ${minimum} to ${maximum}`);
}

const positionsOfCall = ({ client, closing, timeoutMs }: ReaderOptions) =>
  batchesOfCall({
    what: 'read of the end of the log',
    open: () => client.readLast(),
    accept: (message: ReadMessage) =>
      message.kind === 'event' && message.event.position !== null
        ? atEvent(message.event.position)
        : null,
    signals: [closing],
    maximum: 1,
    silenceMilliseconds: timeoutMs,
  });

/** Events of a stream, each with its contents. */
function batchesOfStream(
  options: ReaderOptions,
  stream: string,
  open: () => OpenCall,
): AsyncGenerator<readonly StoredEvent[]> {
  const complete = annexReader(options);
  return completed(recordedBatches(options, stream, open), isAnnexed, complete);
}

/** Batches of a subscription, each event with its contents. */
function completeItems(
  options: ReaderOptions,
  batches: AsyncIterable<readonly LogItem[]>,
): AsyncGenerator<readonly LogItem[]> {
  const complete = annexReader(options);
  return completed(
    batches,
    (item) => item.kind === 'event' && isAnnexed(item.event),
    async (item) =>
      item.kind === 'event' ? { kind: 'event', event: await complete(item.event) } : item,
  );
}

const annexReader = (options: ReaderOptions) =>
  createAnnexReader(async (stream) => {
    const open = () => options.client.readStream(stream, 0, Number.MAX_SAFE_INTEGER);
    const events: StoredEvent[] = [];
    for await (const batch of recordedBatches(options, stream, open)) events.push(...batch);
    return events;
  });

/** Batches in which items that lack something have been completed. */
async function* completed<Item>(
  batches: AsyncIterable<readonly Item[]>,
  isIncomplete: (item: Item) => boolean,
  complete: (item: Item) => Promise<Item>,
): AsyncGenerator<readonly Item[]> {
  for await (const batch of batches) {
    // Hardly any batch has such an item.
    if (!batch.some(isIncomplete)) {
      yield batch;
      continue;
    }
    const items: Item[] = [];
    for (const item of batch) items.push(await complete(item));
    yield items;
  }
}

/** Events of a stream as they were recorded. */
function recordedBatches(
  { closing, timeoutMs }: ReaderOptions,
  stream: string,
  open: () => OpenCall,
): AsyncGenerator<readonly StoredEvent[]> {
  if (!parseStreamName(stream)) throw new BrokenInvariant(`${stream} is no stream name`);
  return batchesOfCall({
    what: `read of ${stream}`,
    open,
    accept: (message: ReadMessage) =>
      message.kind === 'event' ? incomingEvent(message.event) : null,
    signals: [closing],
    maximum: readBatch,
    silenceMilliseconds: timeoutMs,
  });
}

async function* flat<Item>(batches: AsyncIterable<readonly Item[]>): AsyncGenerator<Item> {
  for await (const batch of batches) yield* batch;
}

/**
 * The last batch of a call, empty when there is none. It reads to the end on purpose: a cancelled call
 * costs the server a reset stream, and servers cut connections that send many of them.
 */
async function lastBatch<Item>(batches: AsyncIterable<readonly Item[]>): Promise<readonly Item[]> {
  let last: readonly Item[] = [];
  for await (const batch of batches) last = batch;
  return last;
}

interface SubscriptionRequest {
  readonly prefixes: readonly string[];
  readonly after: Position;
  readonly signals: readonly AbortSignal[];
  readonly maximum?: number;
  readonly isLive?: boolean;
  readonly wants?: SubscriptionOptions['wants'];
  readonly checkpoints?: CheckpointRate;
}

/** One subscription, from a position (exclusive) until it is lost. */
function subscription(
  options: ReaderOptions,
  request: SubscriptionRequest,
): AsyncGenerator<readonly LogItem[]> {
  const { prefixes, after, signals, maximum = readBatch, isLive = false, wants } = request;
  const { checkpoints = 'often' } = request;
  // No prefix at all would mean every stream to the server and none to the reader.
  if (prefixes.length === 0) throw new BrokenInvariant('a subscription needs a prefix');
  const { client, timeoutMs } = options;
  const inOrder = createOrderCheck(after);
  const batches = batchesOfCall({
    what: 'subscription to the log',
    open: () => client.subscribe(prefixes, after, checkpoints),
    accept: (message: ReadMessage) => {
      const item = itemOf(message, wants);
      return item && inOrder(item);
    },
    signals,
    maximum,
    silenceMilliseconds: timeoutMs,
    isLive,
  });
  return completeItems(options, batches);
}

function itemOf(message: ReadMessage, wants: SubscriptionOptions['wants']): LogItem | null {
  switch (message.kind) {
    case 'event': {
      if (wants && message.event.position !== null) {
        const position = atEvent(message.event.position);
        if (!wants(unread(message.event, position))) return { kind: 'checkpoint', position };
      }
      const event = incomingEvent(message.event);
      return event && { kind: 'event', event };
    }
    case 'checkpoint':
      return { kind: 'checkpoint', position: positionOf(message) };
    case 'caught_up':
      return { kind: 'caught_up' };
    case 'confirmed':
    case 'other':
      return null;
    default:
      return message satisfies never;
  }
}

/** An event before it is read. Its data and metadata are parsed only when somebody asks for them. */
const unread = (event: WireEvent, position: Position): UnreadEvent => ({
  stream: event.stream,
  revision: event.revision,
  id: event.id,
  position,
  characters: event.data.length + event.metadata.length,
  read: () => incomingEvent(event),
});

function followWith(
  options: ReaderOptions,
  { prefixes, wants, checkpoints = 'often', after, signal, onLost }: SubscriptionOptions,
  maximum: number,
): AsyncIterable<readonly LogItem[]> {
  const ended = AbortSignal.any([options.closing, signal]);
  return followLog({
    connect: (position) => {
      const place = { prefixes, after: position, checkpoints };
      const request = { ...place, signals: [ended], maximum, isLive: true };
      return subscription(options, wants ? { ...request, wants } : request);
    },
    after,
    signal: ended,
    backOff: createBackOff(resubscription),
    onLost: (error) => {
      onLost?.(error);
    },
  });
}

/**
 * The events of a subscription up to a position (inclusive). It also ends where the log ended when
 * the subscription began, because the position may lie beyond.
 */
async function* eventsUpTo(
  batches: AsyncIterable<readonly LogItem[]>,
  after: Position,
  upTo: Position,
): AsyncGenerator<StoredEvent> {
  if (upTo <= after) return;
  for await (const batch of batches) {
    for (const item of batch) {
      if (item.kind === 'caught_up') return;
      const position = item.kind === 'event' ? item.event.position : item.position;
      if (position > upTo) return;
      if (item.kind === 'event') yield item.event;
      if (position === upTo) return;
    }
  }
  throw new StoreUnavailable('the event store ended a read of the log before its end');
}
