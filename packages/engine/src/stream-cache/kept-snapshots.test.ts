import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryStore } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { command, fill, startOn, unread } from '../decide/test-jar.ts';
import { openSnapshotFolder } from './snapshot-folder.ts';

const test = suite('snapshots that several processes keep');

const folders: string[] = [];
test.after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const every = 600;

/**
 * Two processes on a store, with a jar that was filled here. `write` fills it there and tells this one, which folds
 * what it is told until it lets the jar go; `folded` are the events that it has read for that.
 */
async function world({ isShared = true } = {}) {
  const store = new MemoryStore();
  const snapshotsIn = (folder: string) =>
    openSnapshotFolder({ folder, code: 'code', every, onError: (error) => assert.not.ok(error) });
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-kept-snapshots-'));
  folders.push(folder);
  const shared = [snapshotsIn(folder), snapshotsIn(folder)] as const;
  const here = startOn(store, undefined, { snapshots: shared[0] });
  const there = startOn(store, undefined, isShared ? { snapshots: shared[1] } : {});
  const { cache } = here.streams;
  const folded: number[] = [];
  let told = 0;
  const tell = (): void => {
    for (const event of store.log.slice(told)) {
      const read = () => {
        folded.push(event.revision);
        return event;
      };
      if (cache.wants({ ...unread(event), read })) cache.hear(event);
    }
    told = store.log.length;
  };
  const run = (process: typeof here, key?: string) => process.writer().run(command(fill(1), key));
  await run(here);
  return {
    folded,
    run: () => run(here),
    repeat: (key: string) => run(here, key),
    async write(events: number): Promise<void> {
      for (let event = 0; event < events; event += 1) {
        await run(there, `key ${store.log.length}`);
        tell();
        for (const { settled } of shared) await settled();
      }
    },
  };
}

test('a stream that nobody asks for is let go when another process keeps its snapshots', async () => {
  const { write, folded, run, repeat } = await world();
  await write(3 * every);
  const last = folded.at(-1) ?? 0;
  assert.ok(last > every && last < 3 * every, `the last one folded is ${last}`);
  await write(100);
  assert.is(folded.at(-1), last, 'none is folded any more');
  const { state } = await run();
  assert.is(state.coins, 3 * every + 102);
  assert.equal(
    [(await repeat('key 7')).replayed, (await repeat('key 1850')).replayed],
    [true, true],
  );
});

test('a stream that somebody asks for from time to time is kept', async () => {
  const { write, folded, run } = await world();
  for (let round = 0; round < 8; round += 1) {
    await write(every / 2);
    await run();
  }
  assert.is(folded.length, 4 * every);
});

test('a stream whose snapshots no other process keeps is kept', async () => {
  const { write, folded, run } = await world({ isShared: false });
  await write(3 * every);
  await run();
  assert.is(folded.length, 3 * every);
});

test.run();
