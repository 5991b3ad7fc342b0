import { rm } from 'node:fs/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Outlet } from './outlet.ts';
import { streamMessages } from './protocol.ts';
import { readStream } from './read.ts';
import { openStorage } from './storage.ts';
import { createEventStore } from './store.ts';
import { temporaryDirectory } from './test-server.ts';
import { visibilityOf } from './visible-range.ts';

const test = suite('maximum age');

const hour = 3_600_000;

/** An outlet that keeps what is sent. */
function createSink(): Outlet & { readonly sent: Buffer[] } {
  const sent: Buffer[] = [];
  return {
    sent,
    push: (message) => sent.push(message),
    isFull: () => false,
    flush: async () => {},
    isClosed: () => false,
    onClosed: () => {},
    end: () => {},
    fail: (status) => {
      throw new Error(status.details);
    },
  };
}

test('hides events that are older than the metadata allows', async () => {
  const directory = await temporaryDirectory();
  const storage = await openStorage(directory);
  let clock = Date.now() - 3 * hour;
  const store = createEventStore({ storage, now: () => clock, onFailure: assert.unreachable });
  const write = (streamName: string, id: number, json = '{}') =>
    store.append({
      streamName,
      expected: 'any',
      events: [
        {
          id: `00000000-0000-4000-8000-00000000000${id}`,
          type: 'T',
          isJson: true,
          data: Buffer.from(json),
          metadata: Buffer.alloc(0),
        },
      ],
    });
  await write('aged-1', 1);
  clock += 2 * hour;
  await write('aged-1', 2);
  await write('$$aged-1', 3, '{"$maxAge":5400}');

  const sink = createSink();
  const plan = { kind: 'stream-read', streamName: 'aged-1', count: 10 } as const;
  await readStream(store, { ...plan, backwards: false, from: 0, resolveLinks: false }, sink);
  assert.equal(
    sink.sent.map((bytes) =>
      streamMessages.ReadResp.deserializeBinary(bytes).getEvent()?.getEvent()?.getStreamRevision(),
    ),
    ['1'],
  );
  const later = visibilityOf(storage, 'aged-1', clock + 9 * hour);
  assert.is(later.kind, 'visible');
  await store.close();
  await rm(directory, { recursive: true });
});

test.run();
