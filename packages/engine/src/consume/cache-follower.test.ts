import { once } from 'node:events';
import { MemoryStore } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startOn } from '../decide/test-jar.ts';
import type { EventStore } from '../log/types.ts';
import { startCacheFollower } from './cache-follower.ts';

const test = suite('follower of cached streams');

test('says how far it has told the cache everything, and when it tells no more', async () => {
  const { cache } = startOn(new MemoryStore()).streams;
  const { heard } = cache;
  const seen: (readonly [upTo: bigint | null, stretch: number])[] = [];
  const look = (): number => seen.push([heard.upTo, heard.stretch]);
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const follow: EventStore['follow'] = async function* ({ signal, onLost }) {
    look();
    yield [{ kind: 'caught_up' }];
    look();
    yield [{ kind: 'checkpoint', position: 7n }];
    look();
    onLost?.(new Error('the log is away'));
    look();
    yield [{ kind: 'checkpoint', position: 9n }];
    look();
    end();
    await once(signal, 'abort');
  };
  const store = { follow, head: () => Promise.resolve(5n) };
  const log = { warn: () => undefined };
  const follower = startCacheFollower({ store, cache, prefixes: ['jar-'], log });
  await ended;
  await follower.stop();
  look();
  assert.equal(seen, [
    [null, 0],
    [5n, 1],
    [7n, 1],
    [null, 1],
    [9n, 2],
    [null, 2],
  ]);
});

test.run();
