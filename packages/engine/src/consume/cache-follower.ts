import { eventsOf, positionAfter } from '../log/follow.ts';
import type { Position } from '../log/types.ts';
import type { Log } from '../operations/log.ts';
import type { StreamCache } from '../stream-cache/stream-cache.ts';
import type { Followed } from './log-feed.ts';
import { runForever } from './run-forever.ts';

interface CacheFollowerOptions {
  readonly store: Followed & { head(): Promise<Position> };
  readonly cache: Pick<StreamCache, 'hear' | 'heard'>;
  /** The streams that the cache may keep, by prefix. */
  readonly prefixes: readonly string[];
  readonly log: Pick<Log, 'warn'>;
}

/** Items that are passed on together; the follower yields to requests in between. */
const batchMaximum = 500;

/**
 * Tells a cache of folded streams what other processes append, from now on. Nothing depends on it: what the
 * cache was not told is read from the log after an append that failed. So a follower that cannot go on
 * leaves out what it has missed, and starts over at the end of the log.
 */
export function startCacheFollower(options: CacheFollowerOptions): { stop(): Promise<void> } {
  const { store, cache, prefixes, log } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const follow = async (): Promise<number> => {
    let position = await store.head();
    const onLost = (): void => cache.heard.lose();
    const subscription = { prefixes, after: () => position, signal, onLost };
    try {
      for await (const items of store.follow(subscription, batchMaximum)) {
        for (const event of eventsOf(items)) cache.hear(event);
        position = positionAfter(items) ?? position;
        cache.heard.reach(position);
      }
    } finally {
      cache.heard.lose();
    }
    return 0;
  };
  const running = runForever(follow, { name: 'following the log for cached streams', log, signal });
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
