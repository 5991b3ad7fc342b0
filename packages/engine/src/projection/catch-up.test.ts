import { setImmediate as nextTurn } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Connection } from '../database/database.ts';
import type { AnyProjection } from '../define/projection.ts';
import type { EventStore, NewEvent, StoredEvent } from '../log/types.ts';
import { catchUp } from './catch-up.ts';
import type { LiveTables } from './live-tables.ts';
import { RowCache } from './row-store.ts';
import { added, counters, opened, Pen } from './test-counters.ts';

const test = suite('filling of tables');

/** A log of one counter, and a writer of it. */
function heldLog() {
  const stored: StoredEvent[] = [];
  const append = async (stream: string, written: readonly NewEvent[]) => {
    for (const event of written) {
      const revision = stored.length;
      stored.push({ ...event, stream, revision, position: BigInt(revision + 1) } as StoredEvent);
    }
    return { position: BigInt(stored.length) };
  };
  const readLog = async function* ({ after }: { readonly after: bigint }) {
    yield* stored.filter(({ position }) => position > after);
  };
  const store = { append, readLog } as unknown as EventStore;
  return { store, pen: new Pen(store), stored };
}

/** Turns that Postgres takes to write rows: more than any work of the process that waits for nothing. */
const turnsOfWriting = 100;

test('the events of a batch are folded while the one before it is being written, onto its rows', async () => {
  const { store, pen, stored } = heldLog();
  await pen.write('c1', [opened('one'), added(1), added(2), added(3)]);
  const seen: string[] = [];
  const watched: AnyProjection = {
    ...counters,
    fold(row, event, key) {
      seen.push(`folded ${event.position}`);
      return counters.fold(row as never, event as never, key);
    },
  };
  const query = async (text: string, values: readonly unknown[] = []) => {
    const words = text.trim().split(/\s/).slice(0, 2).join(' ');
    if (words !== 'insert into') seen.push(words);
    else {
      const total = /"total":"(\d+)"/.exec(values.join(' '))?.[1];
      seen.push(`writing ${total}`);
      for (let turn = 0; turn < turnsOfWriting; turn += 1) await nextTurn();
      seen.push(`written ${total}`);
    }
    return { rows: [], count: 0 };
  };
  const connection = { query, run: async () => ({ rows: [], count: 1 }) };
  const nothing = async () => undefined;
  const live = {
    position: BigInt(stored.length),
    ...{ recordStopped: nothing, reportStopped: nothing, add: nothing, promoteAll: nothing },
  };
  await catchUp({
    store,
    group: [
      {
        ...{ table: watched, relation: 'counters_v1', name: 'counters', version: 1, generation: 0 },
        ...{ position: 0n, serving: false, standsTogether: false },
      },
    ],
    batchMaximum: 2,
    signal: new AbortController().signal,
    context: { connection: connection as unknown as Connection, cache: new RowCache() },
    live: live as unknown as LiveTables,
    exclusive: (work) => work(),
    onBatch: () => undefined,
  });
  assert.equal(seen, [
    ...['folded 1', 'folded 2'],
    ...['begin', 'writing 1', 'folded 3', 'folded 4', 'written 1', 'commit'],
    ...['begin', 'writing 6', 'written 6', 'commit'],
  ]);
});

test.run();
