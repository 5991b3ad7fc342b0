import { eventsOf, followLog, isCaughtUp, positionAfter } from '../log/follow.ts';
import { ReadEvent } from '../log/incoming-event.ts';
import {
  type EventStore,
  type LogItem,
  type Position,
  type StoredEvent,
  StoreUnavailable,
  type SubscriptionOptions,
} from '../log/types.ts';
import { createBackOff } from './run-forever.ts';

/** The source of a follower's events: the event store itself, or a feed that several share. */
export type Followed = Pick<EventStore, 'follow'>;

/** The one subscription of a process to the log, for all that follow it there. */
export interface LogFeed extends Followed {
  /** Ends the subscription and every following, and resolves when the subscription has ended. */
  close(): Promise<void>;
}

export interface LogFeedOptions {
  readonly store: Pick<EventStore, 'follow' | 'head'>;
  /** The streams of all followers together, by prefix. */
  readonly prefixes: readonly string[];
  /** Asked before an event is read: one that is not wanted reaches nobody. */
  readonly wants?: SubscriptionOptions['wants'];
  /** Events that the window holds at most. 4,096 unless given. */
  readonly windowEvents?: number;
}

const windowEventsDefault = 4_096;
/** Characters of JSON that the events of the window hold at most together. */
const windowCharacters = 64 * 1024 ** 2;
/** Items taken from the subscription together. */
const batchMaximum = 512;
/**
 * Followers hear at the latest after so many milliseconds that the log has moved on past events of others. At once would
 * wake each of them for every event: with ten of them that costs more than the events themselves.
 */
const lullMilliseconds = 5;
const rejoining = { firstMilliseconds: 50, lastMilliseconds: 5_000 };

/**
 * Opens the feed, which subscribes from the end of the log on as soon as somebody follows it. A follower
 * that begins earlier, or that is too slow and falls out of the window, reads for itself until it is in
 * the window. So the window bounds the memory, and nobody waits for the slowest.
 */
export function openLogFeed(options: LogFeedOptions): LogFeed {
  const { store, prefixes, wants, windowEvents } = options;
  const closing = new AbortController();
  const window = new FeedWindow(windowEvents ?? windowEventsDefault);
  let pumping: Promise<void> | null = null;
  const pump = async (): Promise<void> => {
    const subscription = {
      prefixes,
      ...(wants ? { wants } : {}),
      after: async () => window.open(window.position ?? (await store.head())),
      signal: closing.signal,
      onLost: (error: Error) => window.lose(error),
    };
    try {
      for await (const items of store.follow(subscription, batchMaximum)) window.take(items);
    } catch {
      // An event that cannot be read concerns only those who follow its stream: they find it themselves.
      window.end();
    }
  };
  return {
    follow: ({ prefixes: wanted, after, signal, onLost }, maximum) => {
      pumping ??= pump();
      const ended = AbortSignal.any([closing.signal, signal]);
      return followLog({
        connect: (position) =>
          new Follower(store, window, { prefixes: wanted, maximum, signal: ended }).from(position),
        after,
        signal: ended,
        backOff: createBackOff(rejoining),
        onLost: (error) => onLost?.(error),
      });
    },
    async close() {
      closing.abort(new StoreUnavailable('the feed of the log is closed'));
      await pumping;
    },
  };
}

/** A follower that has all there is. */
interface Waiting {
  readonly prefixes: readonly string[];
  readonly wake: () => void;
}

const isOf = (prefixes: readonly string[], { stream }: StoredEvent): boolean =>
  prefixes.some((prefix) => stream.startsWith(prefix));

/** The latest events of the subscription. */
class FeedWindow {
  /** The window holds every event after `start` and up to `position`; null before the subscription. */
  start: Position | null = null;
  position: Position | null = null;
  /** True while everything that was in the log has been taken. */
  isCaughtUp = false;
  /** True when the subscription will bring nothing more. */
  hasEnded = false;
  /** Counts the losses of the subscription, the last of which is `loss`. */
  losses = 0;
  loss: Error = new StoreUnavailable('the subscription was lost');
  readonly #maximum: number;
  readonly #events: StoredEvent[] = [];
  readonly #waiting = new Set<Waiting>();
  #characters = 0;
  #lull: NodeJS.Timeout | null = null;

  constructor(maximum: number) {
    this.#maximum = maximum;
  }

  /** Wakes a follower when events of its streams have come, and a little later when only others have. */
  tell(waiting: Waiting): void {
    this.#waiting.add(waiting);
  }

  #notify(): void {
    if (this.#lull) clearTimeout(this.#lull);
    this.#lull = null;
    for (const { wake } of this.#waiting) wake();
    this.#waiting.clear();
  }

  #notifyOf(events: readonly StoredEvent[]): void {
    for (const waiting of this.#waiting) {
      if (!events.some((event) => isOf(waiting.prefixes, event))) continue;
      this.#waiting.delete(waiting);
      waiting.wake();
    }
    if (this.#waiting.size > 0) this.#lull ??= setTimeout(() => this.#notify(), lullMilliseconds);
  }

  open(position: Position): Position {
    this.start ??= position;
    this.position ??= position;
    return this.position;
  }

  take(items: readonly LogItem[]): void {
    const events = eventsOf(items);
    for (const event of events) {
      this.#events.push(event);
      this.#characters += sizeOf(event);
    }
    this.position = positionAfter(items) ?? this.position;
    this.#trim();
    if (this.isCaughtUp || !isCaughtUp(items)) this.#notifyOf(events);
    else {
      this.isCaughtUp = true;
      this.#notify();
    }
  }

  #trim(): void {
    let dropped = 0;
    while (
      this.#events.length - dropped > this.#maximum ||
      (this.#characters > windowCharacters && dropped < this.#events.length)
    ) {
      const event = this.#events[dropped];
      if (!event) break;
      this.#characters -= sizeOf(event);
      this.start = event.position;
      dropped += 1;
    }
    if (dropped > 0) this.#events.splice(0, dropped);
  }

  /** Forgets the events too: the log that comes back may be an older copy, without the last of them. */
  lose(error: Error): void {
    this.#events.length = 0;
    this.#characters = 0;
    this.start = this.position;
    this.isCaughtUp = false;
    this.loss = error;
    this.losses += 1;
    this.#notify();
  }

  end(): void {
    this.hasEnded = true;
    this.#notify();
  }

  /** The events after a position of the window, at most so many, and the position that they reach. */
  after(position: Position, maximum: number): { events: readonly StoredEvent[]; upTo: Position } {
    const first = firstAfter(this.#events, position);
    const events = this.#events.slice(first, first + maximum);
    const isAll = first + events.length === this.#events.length;
    const upTo = isAll ? this.position : events.at(-1)?.position;
    return { events, upTo: upTo ?? position };
  }
}

/** Characters of JSON of an event that was read; next to nothing for one that was made here. */
function sizeOf(event: StoredEvent): number {
  const recorded = ReadEvent.recordedOf(event);
  return recorded ? recorded.data.length + recorded.metadata.length : 0;
}

/** Index of the first of some events in the order of the log that lies after a position. */
function firstAfter(events: readonly StoredEvent[], position: Position): number {
  let [low, high] = [0, events.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((events[middle]?.position ?? 0n) > position) high = middle;
    else low = middle + 1;
  }
  return low;
}

interface FollowerOptions extends Pick<SubscriptionOptions, 'prefixes' | 'signal'> {
  readonly maximum: number;
}

/** One follower of the feed, from joining it until the subscription is lost. */
class Follower {
  readonly #store: Followed;
  readonly #window: FeedWindow;
  readonly #options: FollowerOptions;
  #position: Position = 0n;
  /** Ends the wait for news. One listener for all waits: to add one for each costs more than the wait. */
  #wake = (): void => undefined;

  constructor(store: Followed, window: FeedWindow, options: FollowerOptions) {
    this.#store = store;
    this.#window = window;
    this.#options = options;
  }

  /** The items after a position. Throws when the subscription, or the reading in its place, is lost. */
  async *from(position: Position): AsyncGenerator<readonly LogItem[]> {
    const { signal } = this.#options;
    const stop = (): void => this.#wake();
    signal.addEventListener('abort', stop);
    try {
      yield* this.#items(position);
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  async *#items(position: Position): AsyncGenerator<readonly LogItem[]> {
    this.#position = position;
    const { losses } = this.#window;
    let isTold = false;
    for (;;) {
      this.#options.signal.throwIfAborted();
      const { start, isCaughtUp, hasEnded, loss } = this.#window;
      if (this.#window.losses !== losses) throw loss;
      if (hasEnded) yield* this.#read(() => false);
      else if (start !== null && this.#position < start) yield* this.#readUpTo(start);
      else {
        const items = start === null ? [] : this.#fromWindow();
        const isLevel = this.#position >= (this.#window.position ?? 0n);
        if (start !== null && isCaughtUp && isLevel && !isTold) {
          isTold = true;
          items.push({ kind: 'caught_up' });
        }
        if (items.length > 0) yield items;
        else await this.#news();
      }
    }
  }

  /** Resolves at the next change of the window, or when the following is to end. */
  #news(): Promise<void> {
    const { prefixes } = this.#options;
    return new Promise((wake) => {
      this.#wake = wake;
      this.#window.tell({ prefixes, wake });
    });
  }

  #fromWindow(): LogItem[] {
    const { prefixes, maximum } = this.#options;
    const { events, upTo } = this.#window.after(this.#position, maximum);
    const wanted = events.filter((event) => isOf(prefixes, event));
    const items: LogItem[] = wanted.map((event) => ({ kind: 'event', event }));
    const reached = wanted.at(-1)?.position ?? this.#position;
    if (upTo > reached) items.push({ kind: 'checkpoint', position: upTo });
    if (upTo > this.#position) this.#position = upTo;
    return items;
  }

  /** Reads for itself until it is at the start of the window, as that was when it began. */
  async *#readUpTo(start: Position): AsyncGenerator<readonly LogItem[]> {
    let isAtEnd = false;
    for await (const items of this.#read(() => isAtEnd || this.#position >= start)) {
      isAtEnd = isCaughtUp(items);
      const before = items.filter(({ kind }) => kind !== 'caught_up');
      if (before.length > 0) yield before;
    }
    // The end of the log lies behind the start of the window, though there was nothing to read there.
    if (this.#position < start) this.#position = start;
  }

  /** Reads by a subscription of its own, until `isDone` says so after a batch. */
  async *#read(isDone: () => boolean): AsyncGenerator<readonly LogItem[]> {
    const { prefixes, maximum, signal } = this.#options;
    const lost = new AbortController();
    const batches = this.#store.follow(
      {
        prefixes,
        after: () => this.#position,
        signal: AbortSignal.any([signal, lost.signal]),
        onLost: (error) => lost.abort(error),
      },
      maximum,
    );
    for await (const items of batches) {
      this.#position = positionAfter(items) ?? this.#position;
      yield items;
      if (isDone()) return;
    }
    lost.signal.throwIfAborted();
    signal.throwIfAborted();
  }
}
