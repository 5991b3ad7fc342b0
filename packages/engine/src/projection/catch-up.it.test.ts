import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type AnyProjection, projection, type Stamps } from '../define/projection.ts';
import type { Position } from '../log/types.ts';
import {
  added,
  allTables,
  counter,
  counters,
  dump,
  opened,
  type Pen,
  startWorld,
  type TestLog,
  type TestWorld,
  until,
  untilLive,
  withProjector,
} from './test-world.ts';

const test = suite('filling of tables beside the live ones');
let world: TestWorld;

test.before(async () => {
  world = await startWorld();
});
test.after(() => world.close());

/** Counters whose events are mixed, with labels that come and go. */
async function writeSome(pen: Pen): Promise<Position> {
  const names = ['c0', 'c1', 'c2', 'c3', 'c4'];
  for (const [index, name] of names.entries()) {
    await pen.write(name, [opened(name, { labels: [index % 2 ? 'odd' : 'fleeting'] })]);
  }
  for (let round = 1; round <= 8; round += 1) {
    for (const name of names) await pen.write(name, [added(round), added(13)]);
  }
  return await pen.write('c1', [{ type: 'Archived', data: {} }]);
}

const others = allTables.filter((table) => table !== counters);

/** The rows of tables that are filled, in batches of so many events, while another one is live. */
async function filled(
  { store }: TestLog,
  position: Position,
  tables: readonly AnyProjection[],
  options: { readonly batchMaximum: number; readonly cacheWeight?: number },
): Promise<string[][]> {
  const database = await world.database();
  await withProjector({ store, database, tables: [counters] }, (p) => untilLive(p, position));
  const all = [counters, ...tables];
  await withProjector({ store, database, tables: all, ...options }, async (projector) => {
    await until('they have come to their end', () => {
      const { tables: reached } = projector.status();
      const isAtEnd = reached.every(({ status, behind }) =>
        status === 'stopped' ? true : status === 'live' && !behind,
      );
      return isAtEnd && reached.length === all.length;
    });
  });
  const names = tables.map(({ name, version }) => `${name}_v${version}`);
  return Promise.all(names.map((name) => dump(database, name)));
}

test('rows do not depend on how a filling is cut into batches', async () => {
  const log = await world.log();
  const position = await writeSome(log.pen);
  const whole = await filled(log, position, others, { batchMaximum: 1_000 });
  assert.equal(
    whole.map(({ length }) => length),
    [80, 2],
  );
  // With a small cache rows are read back from the database in between, with a large one never.
  for (const batchMaximum of [1, 2, 7]) {
    for (const cacheWeight of [2_000, 1_000_000]) {
      assert.equal(await filled(log, position, others, { batchMaximum, cacheWeight }), whole);
    }
  }
});

test('a row that is said to be new and is not is written as it should be', async () => {
  const log = await world.log();
  const position = await writeSome(log.pen);
  const whole = await filled(log, position, others, { batchMaximum: 1_000 });
  const mistaken = others.map((table): AnyProjection => ({ ...table, adds: table.keys }));
  assert.equal(await filled(log, position, mistaken, { batchMaximum: 3 }), whole);
});

interface Sum extends Stamps {
  readonly sum: number;
}

/** A table that cannot take what would make more than 50. */
const fragile: AnyProjection = projection(counter, {
  name: 'fragile',
  version: 1,
  keys: (event) => [event.aggregate_id],
  fold: (row: Sum | null, event) => {
    const { occurred_at: at } = event.stamp;
    const before = row ?? { sum: 0, created_at: at, updated_at: at };
    const sum = before.sum + (event.type === 'Added' ? event.data.amount : 0);
    if (sum > 50) throw new Error('it is full');
    return { ...before, sum, updated_at: at };
  },
  view: (row: Sum) => row,
});

test('an event that one table cannot take stops it there, and leaves the others as they should be', async () => {
  const log = await world.log();
  const position = await writeSome(log.pen);
  const tables = [...others, fragile];
  const whole = await filled(log, position, tables, { batchMaximum: 1_000 });
  for (const batchMaximum of [1, 2, 7]) {
    assert.equal(await filled(log, position, tables, { batchMaximum }), whole);
  }
});

test.run();
