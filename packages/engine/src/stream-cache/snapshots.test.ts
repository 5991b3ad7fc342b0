import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryStore } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { command, fill, jar, outcomeOf, startOn } from '../decide/test-jar.ts';
import { revisionIn } from './snapshot.ts';
import { openSnapshotFolder } from './snapshot-folder.ts';
import { placeOf } from './stream-state.ts';

const test = suite('snapshots of long streams');

const folders: string[] = [];
const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-snapshots-'));
  folders.push(folder);
  return folder;
};
test.after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** Notes from which revision on streams are read. */
class WatchedStore extends MemoryStore {
  readonly readFrom: number[] = [];
  override readStream(...[stream, options]: Parameters<MemoryStore['readStream']>) {
    this.readFrom.push(options?.from ?? 0);
    return super.readStream(stream, options);
  }
}

/** A process that keeps snapshots in a folder. */
const processOn = (store: WatchedStore, folder: string, code = 'this code', every = 10) => {
  const errors: unknown[] = [];
  const onError = (error: unknown): void => void errors.push(error);
  const snapshots = openSnapshotFolder({ folder, code, every, onError });
  const started = startOn(store, undefined, { snapshots });
  return {
    ...started,
    errors,
    fill: (coins: number, key?: string, fields = {}) =>
      started.writer().run(command(fill(coins), key, fields)),
    settled: snapshots.settled,
  };
};

/** A store with a jar of so many coins, each put in by a request of its own, and its snapshot. */
async function filled(coins: number, folder = newFolder()) {
  const store = new WatchedStore();
  const first = processOn(store, folder);
  for (let coin = 0; coin < coins; coin += 1) {
    await first.fill(1, `key ${coin}`, { coin });
    await first.settled();
  }
  store.readFrom.length = 0;
  return { store, folder };
}

/** The file of the last snapshot. */
const fileIn = (folder: string): string => {
  const name = readdirSync(folder).find((one) => !one.includes('.previous.'));
  return join(folder, name ?? 'there is no file');
};

const revisionOf = (path: string): number =>
  revisionIn(readFileSync(path), { streamName: 'jar-env_1.1', code: 'this code' });

test('the next process reads the event that the snapshot ends with, and what came after it', async () => {
  const { store, folder } = await filled(25);
  const next = processOn(store, folder);
  assert.is((await next.writer().current()).state.coins, 25);
  assert.equal(store.readFrom, [19, 20]);
  assert.is((await next.fill(5)).state.coins, 30);
  assert.equal(next.errors, []);
});

test('requests from before the snapshot are known: none takes effect again', async () => {
  const { store, folder } = await filled(20);
  for (let coin = 0; coin < 20; coin += 1) {
    const next = processOn(store, folder);
    const again = await next.fill(1, `key ${coin}`, { coin });
    assert.ok(again.replayed, `key ${coin}`);
    assert.is(again.state.coins, coin + 1);
    assert.is(await outcomeOf(next.fill(1, `key ${coin}`, { coin: 99 })), 'idempotency_conflict');
  }
  assert.is(store.log.length, 20);
});

test('what was done right before a snapshot is repeated from the one before it, and the way there is folded once', async () => {
  const [store, folder] = [new WatchedStore(), newFolder()];
  const first = processOn(store, folder, 'this code', 600);
  for (let coin = 0; coin < 1_300; coin += 1) {
    await first.fill(1, `key ${coin}`, { coin });
    await first.settled();
  }
  const next = processOn(store, folder, 'this code', 600);
  await next.writer().current();
  store.readFrom.length = 0;
  const coins = [1_190, 1_195, 1_150, 1_120, 1_199];
  const repeated = coins.map((coin) => next.fill(1, `key ${coin}`, { coin }));
  assert.equal(
    (await Promise.all(repeated)).map(({ state, replayed }) => [state.coins, replayed]),
    coins.map((coin) => [coin + 1, true]),
  );
  const early = store.readFrom.filter((from) => from < 1_023);
  assert.equal(early, [599, 600], 'the event that the snapshot ends with, and those behind it');
  assert.equal(next.errors, []);
});

test('where the last snapshot is damaged, or not in its place yet, the one before it counts', async () => {
  const { store, folder } = await filled(25);
  const file = fileIn(folder);
  const whole = readFileSync(file);
  const readsFrom = async (): Promise<readonly number[]> => {
    store.readFrom.length = 0;
    const next = processOn(store, folder, 'this code', 1_000);
    assert.is((await next.writer().current()).state.coins, 25);
    return store.readFrom;
  };
  writeFileSync(file, whole.subarray(0, -1));
  assert.equal(await readsFrom(), [9, 10]);
  assert.is(readdirSync(folder).length, 1, 'the damaged one goes');
  assert.equal(await readsFrom(), [9, 10]);
  writeFileSync(file, whole);
  assert.equal(await readsFrom(), [19, 20]);
});

test('two processes that write one at the same time leave the one before it', async () => {
  const { store, folder } = await filled(19);
  const [one, other] = [processOn(store, folder), processOn(store, folder)];
  await Promise.all([one, other].map((process) => process.writer().current()));
  await one.fill(1);
  await Promise.all([other.writer().current(), one.settled()]);
  await other.settled();
  assert.equal(
    readdirSync(folder)
      .sort()
      .map((name) => revisionOf(join(folder, name))),
    [9, 19],
  );
  assert.equal([...one.errors, ...other.errors], []);
});

test('a draft of a process that was killed keeps nobody from writing for long', async () => {
  const { store, folder } = await filled(9);
  const draft = join(folder, 'jar-env_1.1.snapshot.draft');
  writeFileSync(draft, 'a part of');
  const process = processOn(store, folder);
  await process.fill(1);
  await process.settled();
  assert.equal(readdirSync(folder), ['jar-env_1.1.snapshot.draft'], 'it may still be written');
  const longAgo = new Date(Date.now() - 120_000);
  utimesSync(draft, longAgo, longAgo);
  for (let coin = 0; coin < 20; coin += 1) {
    await process.fill(1);
    await process.settled();
  }
  assert.ok(readdirSync(folder).includes('jar-env_1.1.snapshot'));
  assert.equal(process.errors, []);
});

test('a process that begins reads the streams that were used last, before anybody asks for them', async () => {
  const { store, folder } = await filled(25);
  const next = processOn(store, folder);
  await next.streams.readAhead();
  assert.equal(store.readFrom, [19, 20]);
  await next.fill(1);
  assert.equal(store.readFrom, [19, 20], 'nothing more has to be read');
  const other = processOn(store, folder, 'other code', 1_000);
  await other.streams.readAhead();
  assert.equal(store.readFrom, [19, 20, 0], 'after a release too');
  await startOn(store).streams.readAhead();
  assert.equal([...next.errors, ...other.errors], []);
});

test('the streams that were used last are named once each, the latest first, and drafts are none', async () => {
  const { folder } = await filled(25);
  const day = 86_400;
  const addFile = (name: string, usedAt: number): void => {
    writeFileSync(join(folder, name), '');
    utimesSync(join(folder, name), usedAt, usedAt);
  };
  const now = Date.now() / 1_000;
  addFile('jar-env_1.2.snapshot', now + day);
  addFile('jar-env_1.2.previous.snapshot', now - day);
  addFile('jar-env_1.3.snapshot.draft', now + day);
  addFile('jar-env_1.4.snapshot', now - day);
  const onError = (error: unknown): void => assert.unreachable(String(error));
  const { lastUsed } = openSnapshotFolder({ folder, code: 'this code', onError });
  assert.equal(await lastUsed(9), ['jar-env_1.2', 'jar-env_1.1', 'jar-env_1.4']);
  assert.equal(await lastUsed(2), ['jar-env_1.2', 'jar-env_1.1']);
});

test('a snapshot has the requests of the very batch that it ends with', async () => {
  const folder = newFolder();
  const store = new WatchedStore();
  const first = processOn(store, folder);
  const keys = Array.from({ length: 30 }, (_, index) => `key ${index}`);
  await Promise.all(keys.map((key) => first.fill(1, key)));
  await first.settled();
  store.readFrom.length = 0;
  const next = processOn(store, folder);
  for (const key of keys) assert.ok((await next.fill(1, key)).replayed, key);
  assert.ok((store.readFrom[0] ?? 0) > 0, 'there was no snapshot');
  assert.is(store.log.length, 30);
});

test('a stream that was read and folded gets a snapshot too', async () => {
  const { store } = await filled(25);
  const folder = newFolder();
  const reader = processOn(store, folder);
  await reader.writer().current();
  await reader.settled();
  store.readFrom.length = 0;
  assert.is((await processOn(store, folder).writer().current()).state.coins, 25);
  assert.equal(store.readFrom, [24, 25]);
});

test('short streams get none', async () => {
  const { folder } = await filled(9);
  assert.equal(readdirSync(folder), []);
});

test('a longer stream gets one more seldom', () => {
  const folder = newFolder();
  const { isDue } = openSnapshotFolder({
    folder,
    code: 'code',
    every: 10,
    onError: () => undefined,
  });
  const stepAfter = (keptAt: number): number => {
    let revision = keptAt;
    while (!isDue(revision, keptAt)) revision += 1;
    return revision - keptAt;
  };
  assert.equal([-1, 0, 79, 80, 160, 320, 1_000_000].map(stepAfter), [10, 10, 10, 10, 20, 40, 40]);
});

const isIgnored = async (store: WatchedStore, folder: string, code?: string): Promise<void> => {
  store.readFrom.length = 0;
  const next = processOn(store, folder, code);
  assert.is((await next.writer().current()).state.coins, store.log.length);
  assert.is(store.readFrom.at(-1), 0, `read from ${store.readFrom}`);
  // It has folded the stream and keeps a snapshot of its own, which must not come over the next case.
  await next.settled();
};

test('a snapshot by other code is ignored', async () => {
  const { store, folder } = await filled(12);
  await isIgnored(store, folder, 'other code');
});

test('a damaged snapshot is ignored, wherever it is damaged', async () => {
  const { store, folder } = await filled(12);
  const file = fileIn(folder);
  const whole = readFileSync(file);
  for (let place = 0; place < whole.length; place += 13) {
    const damaged = Buffer.from(whole);
    damaged[place] = (damaged[place] ?? 0) ^ 1;
    writeFileSync(file, damaged);
    await isIgnored(store, folder);
    writeFileSync(file, whole.subarray(0, place));
    await isIgnored(store, folder);
  }
});

test('a snapshot of another log is ignored, and so is one that is ahead of its log', async () => {
  const { folder } = await filled(20);
  const other = await filled(20);
  await isIgnored(other.store, folder);
  const shorter = await filled(5);
  await isIgnored(shorter.store, folder);
});

test('a snapshot of another stream is ignored', async () => {
  const { store, folder } = await filled(12);
  const bytes = readFileSync(fileIn(folder));
  writeFileSync(join(folder, 'jar-env_1.2.snapshot'), bytes);
  const next = processOn(store, folder);
  assert.is((await next.writer('2').current()).state.coins, 0);
});

test('files beyond the limit go, those that were not used for longest first', async () => {
  const folder = newFolder();
  const store = new WatchedStore();
  const onError = (error: unknown): void => {
    throw error;
  };
  const snapshots = openSnapshotFolder({
    folder,
    code: 'c',
    every: 1,
    bytesMaximum: 2_000,
    onError,
  });
  const { writer } = startOn(store, undefined, { snapshots });
  for (let jar = 0; jar < 20; jar += 1) {
    await writer(String(jar)).run(command(fill(1), 'key'));
    await snapshots.settled();
  }
  const names = readdirSync(folder);
  assert.ok(names.length < 20, `${names.length} files`);
  assert.ok(names.includes('jar-env_1.19.snapshot'), names.join());
});

test('of processes that share a folder none puts an older snapshot in the place of a newer', async () => {
  const { store, folder } = await filled(9);
  const slow = processOn(store, folder);
  const fast = processOn(store, folder);
  await slow.writer().current();
  for (let coin = 0; coin < 30; coin += 1) {
    await fast.fill(1);
    await fast.settled();
  }
  const newest = readFileSync(fileIn(folder), 'latin1');
  await slow.streams.cache.of(placeOf(jar, 'env_1', '1')).follow(20);
  await slow.settled();
  assert.is(readFileSync(fileIn(folder), 'latin1'), newest);
  assert.equal([...slow.errors, ...fast.errors], []);
});

test('many processes that write and read one snapshot at once find a whole one or none', async () => {
  const { store, folder } = await filled(40);
  const processes = Array.from({ length: 8 }, () => processOn(store, folder, 'this code', 1));
  for (let round = 0; round < 20; round += 1) {
    await Promise.all(processes.map((process) => process.writer().current()));
    await processes[round % 8]?.fill(1);
    const next = processOn(store, folder, 'this code', 1);
    assert.is((await next.writer().current()).state.coins, 41 + round);
    await next.settled();
    assert.equal(next.errors, []);
  }
  await Promise.all(processes.map(({ settled }) => settled()));
  assert.equal(
    processes.flatMap(({ errors }) => errors),
    [],
  );
  assert.is(readdirSync(folder).length, 2, 'no draft is left');
});

test('a folder that cannot be written costs no request', async () => {
  const folder = newFolder();
  const store = new WatchedStore();
  const first = processOn(store, folder);
  rmSync(folder, { recursive: true });
  for (let coin = 0; coin < 20; coin += 1) await first.fill(1);
  await first.settled();
  assert.ok(first.errors.length > 0);
  assert.is((await first.writer().current()).state.coins, 20);
});

test.run();
