import { rm } from 'node:fs/promises';
import { open } from 'lmdb';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { CommitEntry } from './entry.ts';
import { encodeRecord } from './record.ts';
import { startEventStoreServer } from './server.ts';
import { openStorage, type Storage } from './storage.ts';
import { refusal, temporaryDirectory } from './test-server.ts';

const test = suite<{ directory: string }>('storage');

test.before.each(async (context) => {
  context.directory = await temporaryDirectory();
});
test.after.each(({ directory }) => rm(directory, { recursive: true }));

/** Commits events of one stream, as the writer would, and returns their positions. */
async function fill(storage: Storage, count: number): Promise<number[]> {
  let { nextPosition } = storage.counters;
  const entries: CommitEntry[] = [];
  for (let revision = 0; revision < count; revision += 1) {
    const record = encodeRecord(
      {
        id: '0f8fad5b-d9cb-469f-a165-70867728950e',
        type: 'T',
        isJson: true,
        data: Buffer.from('{}'),
        metadata: Buffer.alloc(0),
      },
      { streamName: Buffer.from('s'), streamId: 1, revision, position: nextPosition, createdAt: 1 },
    );
    entries.push({ position: nextPosition, record, streamId: 1, revision });
    nextPosition += record.length;
  }
  await storage.commit({
    entries,
    streams: new Map([['s', { id: 1, lastRevision: count - 1 }]]),
    counters: { nextPosition, nextStreamId: 2 },
  });
  return entries.map(({ position }) => position);
}

test('finds everything again after it was closed', async ({ directory }) => {
  const first = await openStorage(directory);
  const positions = await fill(first, 300);
  await first.close();
  const storage = await openStorage(directory);
  assert.is(storage.generation, first.generation);
  assert.is(storage.counters.nextStreamId, 2);
  assert.equal(storage.findStream('s'), { id: 1, lastRevision: 299 });
  assert.is(storage.findStream('other'), undefined);
  assert.is(storage.streamAt(1, 256)?.position, positions[256]);
  assert.is(storage.streamAt(1, 300), undefined);
  assert.ok(storage.recordAt(positions[255] ?? 0));
  assert.is(storage.recordAt((positions[255] ?? 0) + 1), undefined);
  await storage.close();
});

test('reads log and index in both directions within bounds', async ({ directory }) => {
  const storage = await openStorage(directory);
  const positions = await fill(storage, 300);
  const at = (index: number): number => positions[index] ?? 0;
  const log = (entries: readonly { position: number }[]) => entries.map(({ position }) => position);
  assert.equal(log(storage.logForward(at(254), at(257), 10)), positions.slice(254, 258));
  assert.equal(log(storage.logForward(at(254) + 1, at(299), 2)), positions.slice(255, 257));
  assert.equal(log(storage.logForward(at(299) + 1, Number.MAX_SAFE_INTEGER - 1, 9)), []);
  assert.equal(log(storage.logBackward(at(257), 3)), positions.slice(254, 257).reverse());
  assert.equal(log(storage.logBackward(at(0), 3)), []);
  const revisions = (entries: readonly { revision: number }[]) =>
    entries.map(({ revision }) => revision);
  assert.equal(revisions(storage.streamForward(1, 255, 257, 9)), [255, 256, 257]);
  assert.equal(revisions(storage.streamForward(1, 298, 400, 9)), [298, 299]);
  assert.equal(revisions(storage.streamForward(2, 0, 400, 9)), []);
  assert.equal(revisions(storage.streamBackward(1, 257, 255, 9)), [257, 256, 255]);
  assert.equal(revisions(storage.streamBackward(1, 2, 0, 9)), [2, 1, 0]);
  await storage.close();
});

/** Overwrites one value of the `meta` table. */
async function tamper(directory: string, key: string, value: Buffer): Promise<void> {
  const root = open<Buffer, Buffer>({
    path: directory,
    noSubdir: false,
    encoding: 'binary',
    keyEncoding: 'binary',
  });
  const meta = root.openDB<Buffer, Buffer>({
    name: 'meta',
    encoding: 'binary',
    keyEncoding: 'binary',
  });
  await meta.put(Buffer.from(key), value);
  await root.close();
}

test('refuses files of another format', async ({ directory }) => {
  await (await openStorage(directory)).close();
  await tamper(directory, 'format', Buffer.from('3'));
  const error = await refusal(() => startEventStoreServer({ directory }));
  assert.match(String(error.message), 'holds an event store of format 3');
  // The refused server has let go of the directory.
  assert.match(
    String((await refusal(() => startEventStoreServer({ directory }))).message),
    'format 3',
  );
});

test('refuses files whose counter does not fit the log', async ({ directory }) => {
  const storage = await openStorage(directory);
  await fill(storage, 3);
  await storage.close();
  await tamper(directory, 'counters', Buffer.alloc(12, 1));
  const error = await refusal(() => openStorage(directory));
  assert.match(String(error.message), 'damaged store');
});

test('a new directory is a new generation', async ({ directory }) => {
  const other = await temporaryDirectory();
  const [first, second] = [await openStorage(directory), await openStorage(other)];
  assert.match(first.generation, /^[0-9a-f-]{36}$/);
  assert.is.not(first.generation, second.generation);
  await Promise.all([first.close(), second.close()]);
  await rm(other, { recursive: true });
});

test.run();
