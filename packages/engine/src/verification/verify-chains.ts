import { LRUCache } from 'lru-cache';
import { eventAt } from '../log/event-at.ts';
import { type ChainHead, chainAfter, chainFault, emptyChain } from '../log/hash-chain.ts';
import type { UnreadableEvent } from '../log/incoming-event.ts';
import type { EventStore, Position, StoredEvent } from '../log/types.ts';

/** The first place where a stream differs from what was written. */
export interface ChainBreak {
  readonly stream: string;
  readonly revision: number;
  readonly fault: string;
}

export interface ChainReport {
  readonly streams: number;
  readonly events: number;
  /** Position of the last event that was looked at. */
  readonly upTo: Position;
  /** One per broken stream, at its first break, at most `breaksMaximum`. */
  readonly breaks: readonly ChainBreak[];
  /** False when an event could not even be read: those after it were not looked at. */
  readonly complete: boolean;
}

/** More breaks than these say nothing new. */
const breaksMaximum = 100;

/**
 * Checks the chains of all streams, from events that are handed over in the order of the log: that
 * none was changed, removed, inserted or moved. It cannot see that the last events of a stream are
 * missing: that takes something kept outside the log.
 */
export interface ChainCheck {
  take(event: StoredEvent): void;
  /**
   * Returns what was found so far; an event that could not be read ends it, and is the last break.
   */
  report(unreadable?: UnreadableEvent): ChainReport;
}

/** A check that has seen nothing yet. It keeps one hash per stream in memory. */
export function createChainCheck(): ChainCheck {
  const heads = new Map<string, ChainHead>();
  const broken = new Map<string, ChainBreak>();
  let events = 0;
  let upTo: Position = 0n;
  return {
    take(event) {
      events += 1;
      upTo = event.position;
      const { stream, revision } = event;
      const fault = broken.has(stream) ? null : chainFault(heads.get(stream) ?? emptyChain, event);
      if (fault && broken.size < breaksMaximum) broken.set(stream, { stream, revision, fault });
      heads.set(stream, chainAfter(event));
    },
    report(unreadable) {
      const breaks = [...broken.values()];
      if (unreadable) {
        const { stream, revision, message } = unreadable;
        breaks.push({ stream, revision, fault: message });
      }
      return { streams: heads.size, events, upTo, breaks, complete: !unreadable };
    },
  };
}

/** Streams whose last hash is remembered; those of others are read again when they go on. */
const headsMaximum = 50_000;

/**
 * Checks the chains of events in the order of the log, from wherever it begins: where it has not
 * seen the event before one, it asks the event store for that event's hash. Memory is bounded.
 */
export class ChainWalk {
  readonly #store: EventStore;
  readonly #heads = new LRUCache<string, ChainHead>({ max: headsMaximum });

  constructor(store: EventStore) {
    this.#store = store;
  }

  /**
   * Checks the next event: returns what is wrong with it, in one sentence, or null when it follows
   * the one before it.
   */
  async take(event: StoredEvent): Promise<string | null> {
    const { stream } = event;
    const head = this.#heads.get(stream) ?? (await this.#headBefore(event));
    this.#heads.set(stream, chainAfter(event));
    return chainFault(head, event);
  }

  async #headBefore({ stream, revision }: StoredEvent): Promise<ChainHead> {
    const before = revision === 0 ? null : await eventAt(this.#store, stream, revision - 1);
    return before ? chainAfter(before) : emptyChain;
  }
}
