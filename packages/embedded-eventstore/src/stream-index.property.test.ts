import { rm } from 'node:fs/promises';
import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { CommitEntry } from './entry.ts';
import { encodeRecord } from './record.ts';
import { openStorage, type StreamRow } from './storage.ts';
import { temporaryDirectory } from './test-server.ts';

const test = suite('streams in blocks');

const streams = [1, 2, 3];

/** Commits of appends: the stream of each event, and how long its data is. */
const commits = fc.array(
  fc.array(fc.tuple(fc.constantFrom(...streams), fc.constantFrom(0, 700, 9_000)), {
    minLength: 1,
    maxLength: 12,
  }),
  { minLength: 1, maxLength: 6 },
);

const placesOf = (entries: readonly { position: number; revision?: number }[]) =>
  entries.map(({ position, revision }) => [revision, position]);

test('each event is found by stream and by place, from every place, also after a restart', async () => {
  await fc.assert(
    fc.asyncProperty(commits, async (groups) => {
      const directory = await temporaryDirectory();
      let storage = await openStorage(directory);
      const written: CommitEntry[] = [];
      const revisions = new Map<number, number>();
      let { nextPosition } = storage.counters;
      for (const group of groups) {
        const entries = group.map(([streamId, length]): CommitEntry => {
          const revision = (revisions.get(streamId) ?? -1) + 1;
          revisions.set(streamId, revision);
          const position = nextPosition;
          const record = encodeRecord(
            {
              id: '0f8fad5b-d9cb-469f-a165-70867728950e',
              type: 'T',
              isJson: true,
              data: Buffer.alloc(length),
              metadata: Buffer.alloc(0),
            },
            { streamName: Buffer.from(`s${streamId}`), streamId, revision, position, createdAt: 1 },
          );
          nextPosition += record.length;
          return { position, record, streamId, revision };
        });
        const rows = [...revisions].map(([id, lastRevision]): [string, StreamRow] => [
          `s${id}`,
          { id, lastRevision },
        ]);
        const counters = { nextPosition, nextStreamId: 4 };
        await storage.commit({ entries, streams: new Map(rows), counters });
        written.push(...entries);
      }
      const check = (): void => {
        for (const { position } of written) {
          const later = written.filter((entry) => entry.position >= position).slice(0, 5);
          const found = storage.logForward(position, Number.MAX_SAFE_INTEGER - 1, 5);
          assert.equal(
            found.map((entry) => entry.position),
            later.map((entry) => entry.position),
          );
          const earlier = written
            .filter((entry) => entry.position < position)
            .slice(-5)
            .reverse();
          const back = storage.logBackward(position, 5);
          assert.equal(
            back.map((entry) => entry.position),
            earlier.map((entry) => entry.position),
          );
        }
        for (const id of streams) {
          const own = written.filter(({ streamId }) => streamId === id);
          for (const { revision = 0 } of own) {
            assert.equal(
              placesOf([storage.streamAt(id, revision) ?? { position: -1 }]),
              placesOf(own.slice(revision, revision + 1)),
            );
            assert.equal(
              placesOf(storage.streamForward(id, revision, 99, 4)),
              placesOf(own.slice(revision, revision + 4)),
            );
            assert.equal(
              placesOf(storage.streamBackward(id, 99, revision, 99)),
              placesOf(own.slice(revision).reverse()),
            );
          }
          assert.is(storage.streamAt(id, own.length), undefined);
        }
      };
      check();
      await storage.close();
      storage = await openStorage(directory);
      check();
      await storage.close();
      await rm(directory, { recursive: true });
    }),
    { numRuns: 15 },
  );
});

test.run();
