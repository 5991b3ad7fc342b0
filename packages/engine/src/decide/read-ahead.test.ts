import { setImmediate as nextTurn } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readAhead } from './read-ahead.ts';

const test = suite('long streams that are read before a process accepts requests');

/** Snapshots of streams by these names. */
const snapshotsOf = (...names: string[]) => ({
  lastUsed: async (maximum: number) => names.slice(0, maximum),
});

test('as many as the limit says are read, one after the other, and one that cannot be read costs the others nothing', async () => {
  const read: string[] = [];
  await readAhead(
    snapshotsOf('one', 'two', 'three', 'four'),
    async (name) => {
      read.push(name);
      if (name === 'one') throw new Error('it is not as it was written');
      await null;
      read.push(`${name} is read`);
    },
    { streams: 3, milliseconds: 60_000 },
  );
  assert.equal(read, ['one', 'two', 'two is read', 'three', 'three is read']);
});

test('a process that would wait for longer than the limit goes on without, and reads no more', async () => {
  const read: string[] = [];
  const endless = Promise.withResolvers<void>();
  await readAhead(
    snapshotsOf('one', 'two'),
    (name) => {
      read.push(name);
      return endless.promise;
    },
    { streams: 2, milliseconds: 5 },
  );
  endless.resolve();
  await nextTurn();
  assert.equal(read, ['one']);
});

test.run();
