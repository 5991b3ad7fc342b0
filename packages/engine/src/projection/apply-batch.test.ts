import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Connection } from '../database/database.ts';
import type { EventStore, NewEvent, StoredEvent } from '../log/types.ts';
import { applyBatch } from './apply-batch.ts';
import { RowCache } from './row-store.ts';
import { added, additions, counters, opened, Pen, type TestEvent } from './test-counters.ts';

const test = suite('batches of the projector');

/** The events of a counter, as they lie in the log. */
async function eventsOf(events: readonly TestEvent[]): Promise<readonly StoredEvent[]> {
  const stored: StoredEvent[] = [];
  const append = async (stream: string, written: readonly NewEvent[]) => {
    for (const event of written) {
      const revision = stored.length;
      stored.push({ ...event, stream, revision, position: BigInt(revision + 1) } as StoredEvent);
    }
    return { position: BigInt(stored.length) };
  };
  await new Pen({ append } as unknown as EventStore).write('c1', events);
  return stored;
}

/** A session with empty tables, which writes down the statements. */
function emptyDatabase() {
  const statements: string[] = [];
  const query = async (text: string) => {
    statements.push(text.trim().split(/\s/).slice(0, 2).join(' '));
    return { rows: [], count: 0 };
  };
  return { statements, connection: { query } as unknown as Connection };
}

const targets = [
  { table: counters, relation: 'counters' },
  { table: additions, relation: 'additions' },
];

test('nobody looks for rows that events are the first to touch', async () => {
  const { statements, connection } = emptyDatabase();
  const cache = new RowCache();
  const [first, ...rest] = await eventsOf([opened('a'), added(1), added(2)]);
  for (const events of [first ? [first] : [], rest]) {
    await applyBatch({ connection, cache }, targets, events, async () => undefined);
  }
  assert.equal(statements, [
    ...['begin', 'insert into', 'commit'],
    // The row of the counter is known from the batch before.
    ...['begin', 'insert into', 'insert into', 'commit'],
  ]);
});

test('rows that may have been there before, and are not in memory, are looked for', async () => {
  const { statements, connection } = emptyDatabase();
  const { adds: _, ...silent } = additions;
  const events = await eventsOf([opened('a'), added(1)]);
  const context = { connection, cache: new RowCache() };
  await applyBatch(
    context,
    [{ table: silent, relation: 'additions' }],
    events,
    async () => undefined,
  );
  assert.equal(statements, ['begin', 'select found.*', 'insert into', 'commit']);
});

test.run();
