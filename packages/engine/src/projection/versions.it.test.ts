import { Client } from 'pg';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { EventStore } from '../log/types.ts';
import { rebuildReadModel } from './rebuild.ts';
import {
  added,
  additions,
  counters,
  countersSecond,
  dump,
  labels,
  opened,
  silentLog,
  startWorld,
  statement,
  type TestWorld,
  until,
  untilLive,
  withProjector,
} from './test-world.ts';

const test = suite('versions of read tables');
let world: TestWorld;

test.before(async () => {
  world = await startWorld();
});
test.after(() => world.close());

/** A store whose bounded reads of the log wait for a signal: those of tables that are behind. */
function gated(store: EventStore): { store: EventStore; open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const gatedStore: EventStore = {
    ...store,
    async *readLog(options) {
      await opened;
      yield* store.readLog(options);
    },
  };
  return { store: gatedStore, open };
}

const relations = async (database: string): Promise<string[]> => {
  const found = await statement<{ name: string }>(
    database,
    `select relname as name from pg_class
      where relnamespace = 'counterfoil'::regnamespace and relkind = 'r'
        and relname ~ '_v[0-9]' order by 1`,
  );
  return found.map(({ name }) => name);
};

test('a new version is filled beside the old one, which is shown until they are level', async () => {
  const log = await world.log();
  const database = await world.database();
  const before = await log.pen.write('c1', [opened('one', { labels: ['x'] }), added(3)]);
  await withProjector({ store: log.store, database, tables: [counters, labels] }, (projector) =>
    untilLive(projector, before),
  );
  const gate = gated(log.store);
  const tables = [countersSecond, labels];
  await withProjector({ store: gate.store, database, tables }, async (projector) => {
    const after = await log.pen.write('c2', [opened('two', { labels: ['x', 'y'] }), added(4)]);
    assert.ok(await projector.projected.waitFor(after, 20_000));
    assert.is((await dump(database, 'labels')).length, 2, 'the others go on');
    assert.is((await dump(database, 'counters')).length, 1, 'the old version stands still');
    assert.equal(await relations(database), ['counters_v1', 'counters_v2', 'labels_v1']);
    gate.open();
    await untilLive(projector, after);
    const shown = await statement<{ doubled: string }>(
      database,
      'select doubled from counterfoil.counters order by id',
    );
    assert.equal(shown, [{ doubled: '6' }, { doubled: '8' }]);
    await until(
      'the old version is gone',
      async () => !(await relations(database)).includes('counters_v1'),
    );
    await untilLive(projector, await log.pen.write('c2', [added(1)]));
    const [row] = await statement<{ doubled: string }>(
      database,
      `select doubled from counterfoil.counters where id = 'c2'`,
    );
    assert.is(row?.doubled, '10');
  });
});

/** Reads a table in a transaction that stays open; gives what ends it. */
async function hold(database: string, table: string): Promise<() => Promise<void>> {
  const client = new Client({ connectionString: database });
  await client.connect();
  await client.query('begin');
  await client.query(`select 1 from counterfoil.${table}`);
  return () => client.end();
}

/** The filling of each table that readers see. */
async function shownGenerations(database: string): Promise<Readonly<Record<string, number>>> {
  const found = await statement<{ name: string; generation: number }>(
    database,
    'select name, generation from counterfoil.projection_progress where serving',
  );
  return Object.fromEntries(found.map(({ name, generation }) => [name, Number(generation)]));
}

test('tables of a rebuild are shown together, but for one that readers hold', async () => {
  const { store, pen } = await world.log();
  const database = await world.database();
  const last = await pen.write('c1', [opened('one'), added(3)]);
  const tables = [counters, additions];
  await withProjector({ store, database, tables }, async (projector) => {
    await untilLive(projector, last);
    const letGo = await hold(database, 'additions');
    const givenUp = new AbortController();
    const { signal } = givenUp;
    const rebuilding = rebuildReadModel({ store, database, tables, log: silentLog, signal });
    try {
      await until(
        'the other is switched',
        async () => (await shownGenerations(database)).counters === 1,
      );
      assert.is((await shownGenerations(database)).additions, 0);
    } finally {
      await letGo();
      givenUp.abort();
      await rebuilding.catch(() => undefined);
    }
  });
  await withProjector({ store, database, tables }, (projector) => untilLive(projector, last));
  assert.equal(await shownGenerations(database), { counters: 1, additions: 1 });
  assert.is((await dump(database, 'additions')).length, 1);
});

test('a new table joins the others with all that has ever happened', async () => {
  const { store, pen } = await world.log();
  const database = await world.database();
  await pen.write('c1', [opened('one'), added(3)]);
  const first = await pen.write('c1', [added(4)]);
  await withProjector({ store, database, tables: [counters] }, (projector) =>
    untilLive(projector, first),
  );
  const second = await pen.write('c1', [added(5)]);
  await withProjector({ store, database, tables: [counters, additions], batchMaximum: 1 }, (p) =>
    untilLive(p, second),
  );
  assert.is((await dump(database, 'additions')).length, 3);
  const levels = await statement<{ stands_together: boolean }>(
    database,
    'select distinct position, stands_together from counterfoil.projection_progress',
  );
  assert.equal(
    levels.map(({ stands_together }) => stands_together),
    [true],
  );
});

test('a filling that was broken off goes on where it was', async () => {
  const { store, pen } = await world.log();
  const database = await world.database();
  const first = await pen.write('c1', [opened('one'), added(3)]);
  const second = await pen.write('c1', [added(4)]);
  await withProjector({ store, database, tables: [counters] }, (p) => untilLive(p, second));
  // A new table of which only the first two events have been taken.
  const partial: EventStore = {
    ...store,
    async *readLog(options) {
      yield* store.readLog({ ...options, upTo: first });
      throw new Error('the reader broke off');
    },
  };
  const tables = [counters, additions];
  await withProjector({ store: partial, database, tables, batchMaximum: 1 }, (projector) =>
    until('it has retried', () => projector.status().state === 'retrying'),
  );
  const reads: bigint[] = [];
  const watched: EventStore = {
    ...store,
    readLog(options) {
      reads.push(options.after);
      return store.readLog(options);
    },
  };
  await withProjector({ store: watched, database, tables }, (p) => untilLive(p, second));
  assert.is(reads[0], first);
  assert.is((await dump(database, 'additions')).length, 2);
});

test('columns that changed without their version are refused', async () => {
  const { store, pen } = await world.log();
  const database = await world.database();
  const position = await pen.write('c1', [opened('one')]);
  await withProjector({ store, database, tables: [counters] }, (p) => untilLive(p, position));
  const changed = { ...countersSecond, version: 1 };
  await withProjector({ store, database, tables: [changed] }, async (projector) => {
    await until('it refuses', () => projector.status().state === 'refused');
    assert.match(projector.status().error ?? '', /counters have changed: raise its version \(1\)/);
  });
});

test('a table that somebody dropped is filled again', async () => {
  const { store, pen } = await world.log();
  const database = await world.database();
  const position = await pen.write('c1', [opened('one'), added(3)]);
  await withProjector({ store, database, tables: [counters, labels] }, (p) =>
    untilLive(p, position),
  );
  const whole = await dump(database, 'counters');
  await statement(database, 'drop table counterfoil.counters_v1 cascade');
  await withProjector({ store, database, tables: [counters, labels] }, (p) =>
    untilLive(p, position),
  );
  assert.equal(await dump(database, 'counters'), whole);
});

test.run();
