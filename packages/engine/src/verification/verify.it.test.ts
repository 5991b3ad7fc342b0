import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { unlessAborted } from '../consume/run-forever.ts';
import { recordProjection } from '../define/projection.ts';
import { UnreadableEvent } from '../log/incoming-event.ts';
import type { EventStore, Position, StoredEvent } from '../log/types.ts';
import { RebuildStopped, rebuildReadModel } from '../projection/rebuild.ts';
import {
  acme,
  added,
  allTables,
  bolt,
  counter,
  counters,
  countersSecond,
  counterView,
  dump,
  member,
  members,
  opened,
  type Pen,
  silentLog,
  startWorld,
  statement,
  type TestLog,
  type TestWorld,
  until,
  untilLive,
  withProjector,
} from '../projection/test-world.ts';
import { verifyReadModel } from './verify.ts';

const test = suite('verification and rebuild');
let world: TestWorld;

test.before(async () => {
  world = await startWorld();
});
test.after(() => world.close());

const tables = [...allTables, members];

async function writeSome(pen: Pen): Promise<Position> {
  for (let index = 0; index < 6; index += 1) {
    const owner = index % 2 ? acme : bolt;
    await pen.write(`c${index}`, [opened(`n${index}`, { labels: ['l'] }), added(index)], owner);
  }
  return await pen.write('m1', [{ type: 'Joined', data: { name: 'Ann' } }], acme, 'member');
}

/** A log with events and a database that was filled from it. */
async function filled(): Promise<{ log: TestLog; database: string; position: Position }> {
  const log = await world.log();
  const database = await world.database();
  const position = await writeSome(log.pen);
  await withProjector({ store: log.store, database, tables }, (p) => untilLive(p, position));
  return { log, database, position };
}

/** Events of one transaction: each by itself, a few, and all. */
const batchSizes = [1, 5, 1_000];

test('finds nothing to say against what the projector wrote', async () => {
  const { log, database, position } = await filled();
  for (const batchMaximum of batchSizes) {
    const report = await verifyReadModel({ store: log.store, database, tables, batchMaximum });
    assert.equal(report, {
      position,
      events: 13,
      rows: 6 + 6 + 2 + 1,
      differences: [],
      truncated: false,
      skipped: [],
    });
  }
});

const tamperings: readonly [string, string, object][] = [
  [
    'a member of a resource',
    `update counterfoil.counters_v1
        set resource = replace(resource::text, '"total":"3"', '"total":"3000"')::json where id = 'c3'`,
    {
      table: 'counters',
      id: 'c3',
      scope: 'env_acme',
      kind: 'different',
      path: 'resource.total',
      expected: '3',
      actual: '3000',
    },
  ],
  [
    'a column alone',
    `update counterfoil.counters_v1 set total = 30 where id = 'c3'`,
    {
      table: 'counters',
      id: 'c3',
      scope: 'env_acme',
      kind: 'different',
      path: 'total',
      expected: '3',
      actual: '30',
    },
  ],
  [
    'a row that was removed',
    `delete from counterfoil.labels_v1 where environment_id = 'env_bolt'`,
    {
      table: 'labels',
      id: 'l',
      scope: 'env_bolt',
      kind: 'missing',
      path: '',
      expected: 'a row',
      actual: null,
    },
  ],
  [
    'a row that was added',
    `insert into counterfoil.members_v1 (id, tenant_id, environment_id, status, created_at,
       updated_at, revision, position, state, resource, metadata)
     select 'm2', tenant_id, environment_id, status, created_at,
       updated_at, revision, position, state, resource, metadata from counterfoil.members_v1`,
    {
      table: 'members',
      id: 'm2',
      scope: 'tenant_acme',
      kind: 'extra',
      path: '',
      expected: null,
      actual: 'a row',
    },
  ],
  [
    'a row that went to another tenant',
    `update counterfoil.members_v1 set tenant_id = 'tenant_evil'`,
    {
      table: 'members',
      id: 'm1',
      scope: 'tenant_acme',
      kind: 'missing',
      path: '',
      expected: 'a row',
      actual: null,
    },
  ],
];

for (const [what, change, expected] of tamperings) {
  test(`names ${what}, and a rebuild puts it right`, async () => {
    const { log, database } = await filled();
    const before = await Promise.all(tables.map(({ name }) => dump(database, name)));
    await statement(database, change);
    const found: unknown[] = [];
    const onDifference = (difference: unknown) => found.push(difference);
    const options = { store: log.store, database, tables };
    const report = await verifyReadModel({ ...options, onDifference });
    assert.equal(report.differences[0], expected);
    assert.equal(found, report.differences);
    for (const batchMaximum of batchSizes) {
      const again = await verifyReadModel({ ...options, batchMaximum });
      assert.equal(again.differences, report.differences);
    }
    await rebuildReadModel({ ...options, log: silentLog });
    assert.equal((await verifyReadModel(options)).differences, []);
    const after = await Promise.all(tables.map(({ name }) => dump(database, name)));
    assert.equal(after, before);
  });
}

for (const [what, table, id, later, kind] of [
  ['has not moved', 'counters', 'c3', added(4), 'different'],
  ['came and went', 'labels', 'fleeting', opened('x', { labels: ['fleeting'] }), 'extra'],
  ['was to be removed', 'labels', 'gone', { type: 'Archived', data: {} }, 'extra'],
] as const) {
  test(`finds a row that ${what}, although it was once what the log said`, async () => {
    const { log, database } = await filled();
    const options = { store: log.store, database, tables };
    const project = (position: Position) =>
      withProjector(options, (projector) => untilLive(projector, position));
    await project(await log.pen.write('f1', [opened('f', { labels: ['fleeting', 'gone'] })]));
    const copy = `select * from counterfoil.${table}_v1 where id = '${id}'`;
    await statement(database, `create table counterfoil.kept as ${copy}`);
    await project(await log.pen.write('c3', [later]));
    await statement(
      database,
      `delete from counterfoil.${table}_v1 where id = '${id}';
       insert into counterfoil.${table}_v1 select * from counterfoil.kept`,
    );
    for (const batchMaximum of batchSizes) {
      const { differences } = await verifyReadModel({ ...options, batchMaximum });
      const found = differences.map((difference) => [difference.id, difference.kind]);
      assert.equal(found, [[id, kind]]);
    }
  });
}

test('shows a witness every event that it asks for, behind the read models too', async () => {
  const { log, database } = await filled();
  await log.pen.write('c9', [opened('unprojected')]);
  const seen: string[] = [];
  const witness = {
    prefixes: ['counter-env_acme.'],
    take: ({ stream, revision }: StoredEvent) => seen.push(`${stream}@${revision}`),
  };
  const report = await verifyReadModel({ store: log.store, database, tables, witness });
  assert.is(report.events, 13);
  assert.equal(
    seen,
    ['1', '3', '5', '9'].flatMap((id) =>
      (id === '9' ? [0] : [0, 1]).map((revision) => `counter-env_acme.c${id}@${revision}`),
    ),
  );
});

test('finds a view that shows other rows than those of the table', async () => {
  const { log, database } = await filled();
  await statement(
    database,
    `create table counterfoil.decoy as select * from counterfoil.members;
     create or replace view counterfoil.members as select * from counterfoil.decoy where false`,
  );
  const report = await verifyReadModel({ store: log.store, database, tables });
  assert.equal(
    report.differences.map(({ table, id, kind }) => [table, id, kind]),
    [['members', 'm1', 'missing']],
  );
});

/** Puts other words into the query of a view, over the very same table. */
const reworded = (words: string, others: string): string => `do $do$ begin
  execute 'create or replace view counterfoil.counters as '
    || replace(rtrim(pg_get_viewdef('counterfoil.counters'::regclass), ';'), '${words}', '${others}');
end $do$`;

const rewordings: readonly [string, string, readonly [string, string, string]][] = [
  [
    'leaves out a row',
    reworded('counters_v1', "counters_v1 where id <> ''c3''"),
    ['c3', 'missing', ''],
  ],
  [
    'shows a column otherwise',
    reworded(' size,', " case id when ''c3'' then 7 else size end as size,"),
    ['c3', 'different', 'size'],
  ],
];

for (const [what, change, expected] of rewordings) {
  test(`finds a view of the right table that ${what}`, async () => {
    const { log, database } = await filled();
    await statement(database, change);
    const report = await verifyReadModel({ store: log.store, database, tables });
    assert.equal(
      report.differences.map(({ id, kind, path }) => [id, kind, path]),
      [expected],
    );
  });
}

test('has nothing against rows that are stored in other words and say the same', async () => {
  const { log, database } = await filled();
  // The members of the resource come in another order.
  await statement(database, `update counterfoil.counters_v1 set resource = resource::jsonb::json`);
  const report = await verifyReadModel({ store: log.store, database, tables });
  assert.equal(report.differences, []);
});

test('compares a table that stopped with the log up to where it stopped', async () => {
  const { log, database } = await filled();
  const stopping = recordProjection(member, {
    name: 'members',
    version: 1,
    view: (state) => {
      if (state.name === 'Eve') throw new Error('not Eve');
      return state;
    },
  });
  const stopped = [...allTables, stopping];
  await withProjector({ store: log.store, database, tables: stopped }, async (projector) => {
    await log.pen.write('m2', [{ type: 'Joined', data: { name: 'Eve' } }], acme, 'member');
    const last = await log.pen.write('c1', [added(1)], acme);
    assert.ok(await projector.projected.waitFor(last, 20_000));
  });
  const report = await verifyReadModel({ store: log.store, database, tables });
  assert.equal([report.differences, report.skipped], [[], []]);
});

test('compares a running system, up to the checkpoint that it has seen', async () => {
  const { log, database } = await filled();
  const options = { store: log.store, database, tables };
  await withProjector({ ...options, batchMaximum: 3 }, async (projector) => {
    let isWriting = true;
    const writing = (async () => {
      let last = 0n;
      for (let round = 0; isWriting; round += 1) {
        last = await log.pen.write(`new${round % 7}`, [round < 7 ? opened('x') : added(round)]);
      }
      return last;
    })();
    const positions = new Set<Position>();
    for (let round = 0; round < 5; round += 1) {
      const report = await verifyReadModel(options);
      assert.equal(report.differences, []);
      positions.add(report.position);
    }
    isWriting = false;
    assert.ok(positions.size > 1, 'it has moved meanwhile');
    await untilLive(projector, await writing);
  });
});

test('rebuilds under a running projector, beside the rows that are shown', async () => {
  const { log, database } = await filled();
  const options = { store: log.store, database, tables };
  await withProjector(options, async (projector) => {
    await until('it runs', () => projector.status().state === 'running');
    await statement(database, `update counterfoil.counters_v1 set total = 30 where id = 'c3'`);
    await rebuildReadModel({ ...options, only: ['counters'], log: silentLog });
    assert.equal((await verifyReadModel(options)).differences, []);
    await untilLive(projector, await log.pen.write('c3', [added(1)], acme));
    const [row] = await statement<{ total: string }>(
      database,
      `select total from counterfoil.counters where id = 'c3'`,
    );
    assert.is(row?.total, '4');
    const generations = projector.status().tables.map(({ name, generation }) => [name, generation]);
    assert.equal(Object.fromEntries(generations), {
      counters: 1,
      additions: 0,
      labels: 0,
      members: 0,
    });
  });
});

test('a rebuild that meets a bad event says so and leaves what is shown', async () => {
  const { log, database } = await filled();
  const broken = recordProjection(counter, {
    name: 'counters',
    version: 1,
    view: (state: typeof counter.initial) => {
      if (state.total === 3) throw new Error('cannot show 3');
      return counterView(state);
    },
    columns: counters.columns,
  });
  const before = await dump(database, 'counters');
  const failure = await rebuildReadModel({
    store: log.store,
    database,
    tables: [broken, ...tables.slice(1)],
    only: ['counters'],
    log: silentLog,
  }).catch((error: unknown) => error);
  assert.instance(failure, RebuildStopped);
  assert.match((failure as Error).message, /counter-env_acme.c3@1: cannot show 3/);
  assert.equal(await dump(database, 'counters'), before);
});

/** A store in which one event of the log has become unreadable since it was projected. */
const damaged = (store: EventStore): EventStore => ({
  ...store,
  async *readLog(options) {
    for await (const event of store.readLog(options)) {
      if (event.stream === 'counter-env_acme.c3' && event.revision === 1) {
        throw new UnreadableEvent(event.stream, event.revision, 'its data is no JSON object');
      }
      yield event;
    }
  },
});

test('a rebuild that meets an event which cannot be read names it, and everything else goes on', async () => {
  const { log, database } = await filled();
  const before = await dump(database, 'counters');
  const store = damaged(log.store);
  const rebuilt = () =>
    rebuildReadModel({ store, database, tables, only: ['counters'], log: silentLog });
  await withProjector({ store, database, tables }, async (projector) => {
    await until('it runs', () => projector.status().state === 'running');
    for (const failure of [await rebuilt().catch(String), await rebuilt().catch(String)]) {
      assert.is(
        failure,
        'RebuildStopped: counters stopped at event counter-env_acme.c3@1: it cannot be read: ' +
          'its data is no JSON object',
      );
    }
    assert.equal(await dump(database, 'counters'), before);
    const last = await log.pen.write('c3', [added(1)], acme);
    assert.ok(await projector.projected.waitFor(last, 20_000));
    assert.is(projector.status().state, 'running');
  });
});

test('a rebuild begins again after one that failed, once the log can be read', async () => {
  const { log, database, position } = await filled();
  let store = damaged(log.store);
  const replaced: EventStore = { ...log.store, readLog: (options) => store.readLog(options) };
  const options = { store: replaced, database, tables, only: ['counters'], log: silentLog };
  await withProjector({ store: replaced, database, tables }, async (projector) => {
    await until('it runs', () => projector.status().state === 'running');
    assert.instance(await rebuildReadModel(options).catch((error) => error), RebuildStopped);
    assert.match(String(await projector.check().catch(String)), /counters stopped at/);
    store = log.store;
    await rebuildReadModel(options);
    await untilLive(projector, position);
    await projector.check();
  });
});

test('a rebuild of a log whose new events cannot be read names the first of them', async () => {
  const { log, database } = await filled();
  const stream = 'counter-env_acme.c9';
  const store: EventStore = {
    ...log.store,
    async *readLog({ signal }) {
      yield* await unlessAborted(new Promise<never[]>(() => undefined), signal as AbortSignal);
    },
    async *follow() {
      yield await Promise.reject(new UnreadableEvent(stream, 0, 'its metadata has no hash'));
    },
  };
  const failure = await rebuildReadModel({ store, database, tables, log: silentLog }).catch(String);
  assert.match(
    String(failure),
    /RebuildStopped: .*counter-env_acme.c9@0 cannot be read: its metadata/,
  );
});

test('says which tables it could not compare', async () => {
  const { log, database } = await filled();
  const report = await verifyReadModel({
    store: log.store,
    database,
    tables: [countersSecond, members],
  });
  assert.equal(report.skipped, [
    { table: 'counters', reason: 'readers see version 1; this program knows version 2' },
  ]);
});

test.run();
