import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type AnyProjection,
  projection,
  recordProjection,
  type Stamps,
} from '../define/projection.ts';
import type { Position } from '../log/types.ts';
import { createMetrics } from '../operations/metrics.ts';
import { startProjector } from './projector.ts';
import {
  acme,
  added,
  allTables,
  bolt,
  counter,
  counters,
  counterView,
  dump,
  type Label,
  labels,
  opened,
  type Pen,
  silentLog,
  startWorld,
  statement,
  type TestWorld,
  until,
  untilLive,
  withProjector,
} from './test-world.ts';

const test = suite('projector');
let world: TestWorld;

test.before(async () => {
  world = await startWorld();
});
test.after(() => world.close());

/** An odd number of them has the fleeting label, which comes and goes. */
const streams = 13;

/** A few streams with some hundred events among them. */
async function writeSome(pen: Pen): Promise<Position> {
  for (let index = 0; index < streams; index += 1) {
    const label = index % 2 ? 'odd' : 'fleeting';
    await pen.write(`c${index}`, [opened(`name ${index}`, { labels: [label] })], ownerOf(index));
  }
  for (let round = 1; round <= 20; round += 1) {
    for (let index = 0; index < streams; index += 1) {
      await pen.write(`c${index}`, [added(round), added(index)], ownerOf(index));
    }
  }
  return await pen.write('c1', [{ type: 'Archived', data: {} }]);
}

const ownerOf = (index: number) => (index % 3 === 0 ? bolt : acme);

const dumpAll = (database: string): Promise<string[][]> =>
  Promise.all(allTables.map(({ name }) => dump(database, name)));

test('rows do not depend on how the events are cut into batches', async () => {
  const { store, pen } = await world.log();
  const position = await writeSome(pen);
  const dumps: string[][][] = [];
  // With a small cache rows are read back from the database in between, with a large one never.
  const small = 2_000;
  const large = 1_000_000;
  for (const [batchMaximum, cacheWeight] of [
    [1, small],
    [7, small],
    [1_000, small],
    [1, large],
  ] as const) {
    const database = await world.database();
    const options = { store, database, tables: allTables, batchMaximum, cacheWeight };
    await withProjector(options, (projector) => untilLive(projector, position));
    dumps.push(await dumpAll(database));
  }
  assert.equal(
    dumps[0]?.map((rows) => rows.length),
    [streams, streams * 40, 3],
  );
  assert.equal(dumps[1], dumps[0]);
  assert.equal(dumps[2], dumps[0]);
  assert.equal(dumps[3], dumps[0]);
});

test('a row that is said to be new and is not is written as it should be', async () => {
  const { store, pen } = await world.log();
  const position = await writeSome(pen);
  const dumps: string[][][] = [];
  const mistaken = allTables.map((table): AnyProjection => ({ ...table, adds: table.keys }));
  for (const tables of [allTables, mistaken]) {
    const database = await world.database();
    // A small cache knows no row from the batch before.
    const options = { store, database, tables, batchMaximum: 7, cacheWeight: 2_000 };
    await withProjector(options, (projector) => untilLive(projector, position));
    dumps.push(await dumpAll(database));
  }
  assert.equal(dumps[1], dumps[0]);
});

test('a session that ends in the middle of a batch loses nothing and doubles nothing', async () => {
  const { store, pen } = await world.log();
  const database = await world.database();
  const metrics = createMetrics({ processMetrics: false });
  const options = { store, database, tables: allTables, batchMaximum: 25, metrics };
  await withProjector(options, async (projector) => {
    await untilLive(projector, 0n);
    // A sequence does not roll back: the session ends within the 3rd, 90th and 300th row written.
    await statement(
      database,
      `create sequence counterfoil.written;
       create function counterfoil.cut() returns trigger language plpgsql as $$
       begin
         if nextval('counterfoil.written') in (3, 90, 300) then
           perform pg_terminate_backend(pg_backend_pid());
           perform pg_sleep(1);
         end if;
         return new;
       end $$;
       create trigger cut before insert on counterfoil.counters_v1
         for each row execute function counterfoil.cut();
       create trigger cut before insert on counterfoil.additions_v1
         for each row execute function counterfoil.cut();`,
    );
    await untilLive(projector, await writeSome(pen));
  });
  const retries = metrics.registry.getSingleMetric('counterfoil_projector_retries_total');
  assert.is((await retries?.get())?.values[0]?.value, 3);
  const whole = await world.database();
  const position = await store.head();
  await withProjector({ store, database: whole, tables: allTables }, (projector) =>
    untilLive(projector, position),
  );
  assert.equal(await dumpAll(database), await dumpAll(whole));
});

test('of two projectors one works, and the other takes over where it ended', async () => {
  const { store, pen } = await world.log();
  const database = await world.database();
  const options = { store, database, tables: allTables, log: silentLog };
  const first = startProjector(options);
  await untilLive(first, await pen.write('c1', [opened('one'), added(1)]));
  const second = startProjector(options);
  await until('the second stands by', () => second.status().state === 'standby');
  await untilLive(first, await pen.write('c1', [added(2)]));
  assert.is(second.status().position, 0n);
  await first.stop();
  await until('the second works', () => second.status().state === 'running');
  await untilLive(second, await pen.write('c1', [added(4)]));
  await second.stop();
  const [row] = await statement<{ total: string }>(
    database,
    'select total from counterfoil.counters',
  );
  assert.is(row?.total, '7');
});

test('positions go on while nothing of interest happens', async () => {
  const { store, pen } = await world.log();
  const database = await world.database();
  await withProjector({ store, database, tables: allTables }, async (projector) => {
    await untilLive(projector, await pen.write('c1', [opened('one')]));
    const positions: Position[] = [];
    for (let index = 0; index < 100; index += 1) {
      const joined = [{ type: 'Joined', data: { name: 'x' } }];
      positions.push(await pen.write(`m${index}`, joined, acme, 'member'));
    }
    // The log tells every 32 events how far it has looked.
    assert.ok(await projector.projected.waitFor(positions[60] ?? 0n, 20_000));
  });
  const stored = await statement<{ position: string }>(
    database,
    'select distinct position from counterfoil.projection_progress',
  );
  assert.is(stored.length, 1);
});

test('text that Postgres cannot hold stops nothing and leaves as it came', async () => {
  const { store, pen } = await world.log();
  const database = await world.database();
  const name = 'nul \u0000 and half \ud83d';
  const position = await pen.write('c1', [opened('x', { metadata: { 'k\u0000': 'v\u0000' } })]);
  const shown = recordProjection(counter, {
    name: 'shown',
    version: 1,
    view: (state) => ({ ...counterView(state), name }),
    columns: { name: { type: 'text', of: (resource) => resource.name } },
  });
  await withProjector({ store, database, tables: [counters, shown] }, (projector) =>
    untilLive(projector, position),
  );
  const [row] = await statement<{ name: string; resource: string; metadata: string }>(
    database,
    'select name, resource::text, metadata::text from counterfoil.shown',
  );
  assert.is(row?.name, 'nul \ufffd and half \ufffd');
  assert.is(JSON.parse(row?.resource ?? '').name, name);
  assert.equal(JSON.parse(row?.metadata ?? ''), { 'k\ufffd': 'v\ufffd' });
});

interface Sum extends Stamps {
  readonly sum: number;
}

/** A table that cannot take an addition of 13, until it is repaired. */
const fragile = (repaired: boolean): AnyProjection =>
  projection(counter, {
    name: 'fragile',
    version: 1,
    keys: (event) => [event.aggregate_id],
    fold: (row: Sum | null, event) => {
      const { occurred_at: at } = event.stamp;
      const sum = row ?? { sum: 0, created_at: at, updated_at: at };
      if (event.type !== 'Added') return sum;
      if (event.data.amount === 13 && !repaired) throw new Error('13 brings bad luck');
      return { ...sum, sum: sum.sum + event.data.amount, updated_at: at };
    },
    view: (row: Sum) => row,
  });

test('an event that a table cannot take stops that table alone, until it is repaired', async () => {
  const { store, pen } = await world.log();
  const database = await world.database();
  const tables = [counters, fragile(false), labels];
  await withProjector({ store, database, tables }, async (projector) => {
    await untilLive(projector, await pen.write('c1', [opened('one'), added(1)]));
    const last = await pen.write('c1', [added(2), added(13), added(4)]);
    assert.ok(await projector.projected.waitFor(last, 20_000));
    const stopped = projector.status().tables.find(({ name }) => name === 'fragile');
    assert.is(stopped?.status, 'stopped');
    assert.is(stopped?.error?.message, '13 brings bad luck');
    assert.is(stopped?.error?.stream, 'counter-env_acme.c1');
    assert.is(stopped?.error?.revision, 3);
    const failure = await projector.check().catch((error: Error) => error.message);
    assert.match(String(failure), /fragile stopped at counter-env_acme.c1@3: 13 brings bad luck/);
    assert.match((await dump(database, 'counters'))[0] ?? '', /""total"":""20""/);
    // What came before the event is in, and nothing after it.
    assert.match((await dump(database, 'fragile'))[0] ?? '', /""sum"":3/);
  });
  const last = await pen.write('c1', [added(5)]);
  await withProjector({ store, database, tables }, async (projector) => {
    assert.ok(await projector.projected.waitFor(last, 20_000));
    await until('it stopped again', () =>
      projector.status().tables.some(({ status }) => status === 'stopped'),
    );
  });
  const repaired = [counters, fragile(true), labels];
  await withProjector({ store, database, tables: repaired }, async (projector) => {
    await untilLive(projector, last);
    assert.match((await dump(database, 'fragile'))[0] ?? '', /""sum"":25/);
    await untilLive(projector, await pen.write('c1', [added(5)]));
    assert.match((await dump(database, 'fragile'))[0] ?? '', /""sum"":30/);
  });
});

test('a row that Postgres refuses stops its table at the very event', async () => {
  const { store, pen } = await world.log();
  const database = await world.database();
  const strict = recordProjection(counter, {
    name: 'strict',
    version: 1,
    view: counterView,
    // More digits than a numeric can have: only Postgres can tell.
    columns: { size: { type: 'numeric', of: ({ total }) => '9'.repeat(+total > 9 ? 140_000 : 1) } },
  });
  await withProjector({ store, database, tables: [strict, counters] }, async (projector) => {
    await untilLive(projector, 0n);
    const last = await pen.write('c1', [opened('one'), added(5), added(5), added(5)]);
    assert.ok(await projector.projected.waitFor(last, 20_000));
    const stopped = projector.status().tables.find(({ name }) => name === 'strict');
    assert.is(stopped?.error?.revision, 2);
    assert.match(stopped?.error?.message ?? '', /numeric/);
    assert.match((await dump(database, 'strict'))[0] ?? '', /""total"":""5""/);
    assert.match((await dump(database, 'counters'))[0] ?? '', /""total"":""15""/);
  });
});

const goodAndBad = [['good'], ['good', 'bad'], ['good']];
const goodFour = [['good'], ['good'], ['good'], ['good']];

for (const [what, broken, lists, message, uses] of [
  [
    'an event that fails for one of its rows has touched none of them',
    {
      ...labels,
      fold: (...[row, event, key]: Parameters<typeof labels.fold>) => {
        if (key === 'bad') throw new Error('bad label');
        return labels.fold(row, event, key);
      },
    },
    goodAndBad,
    'bad label',
    '1',
  ],
  [
    'a row that cannot be shown is named by the event that made it so',
    {
      ...labels,
      view: (row: Label) => {
        if (row.uses >= 3) throw new Error('too many uses');
        return row;
      },
    },
    goodFour,
    'too many uses',
    '2',
  ],
] as const) {
  test(what, async () => {
    const { store, pen } = await world.log();
    const database = await world.database();
    await withProjector({ store, database, tables: [broken, counters] }, async (projector) => {
      await untilLive(projector, 0n);
      let last = 0n;
      for (const [index, names] of lists.entries()) {
        last = await pen.write(`c${index}`, [opened('name', { labels: names })]);
      }
      assert.ok(await projector.projected.waitFor(last, 20_000));
      const stopped = projector.status().tables.find(({ name }) => name === 'labels');
      assert.is(stopped?.error?.message, message);
      assert.is(stopped?.error?.stream, `counter-env_acme.c${uses}`);
    });
    assert.equal(
      await statement(database, `select id, resource->>'uses' as uses from counterfoil.labels`),
      [{ id: 'good', uses }],
    );
  });
}

test('an event of an unknown type is not passed over', async () => {
  const { store, pen } = await world.log();
  const database = await world.database();
  const position = await pen.write('c1', [opened('one'), { type: 'Melted', data: {} }]);
  await withProjector({ store, database, tables: [counters] }, async (projector) => {
    assert.ok(await projector.projected.waitFor(position, 20_000));
    const [stopped] = projector.status().tables;
    assert.is(stopped?.error?.message, 'counter has no event Melted');
  });
});

test.run();
