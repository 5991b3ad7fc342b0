import { LRUCache } from 'lru-cache';
import { type ChainHead, chainAfter, chainFault, emptyChain } from '../log/hash-chain.ts';
import type { EventStore, StoredEvent } from '../log/types.ts';

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
    let head = emptyChain;
    if (revision === 0) return head;
    for await (const event of this.#store.readStream(stream, { from: revision - 1, maximum: 1 })) {
      head = chainAfter(event);
    }
    return head;
  }
}
