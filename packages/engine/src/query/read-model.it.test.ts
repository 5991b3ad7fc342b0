import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EnvironmentId, Problem, type TenantId } from '@counterfoil/kernel';
import { startPostgres } from '@counterfoil/local';
import { Client } from 'pg';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { engineMigrations } from '../database/engine-migrations.ts';
import { migrate } from '../database/migrate.ts';
import { projection, type Stamps } from '../define/projection.ts';
import { startProjector } from '../projection/projector.ts';
import {
  acme,
  added,
  counter,
  counters,
  opened,
  silentLog,
  startLog,
  startWorld,
  statement,
  type TestWorld,
  until,
  untilLive,
  withProjector,
} from '../projection/test-world.ts';
import { createReadModel } from './read-model.ts';

const test = suite('read model');
let world: TestWorld;

test.before(async () => {
  world = await startWorld();
});
test.after(() => world.close());

const caller = {
  tenantId: acme.tenant as TenantId,
  environmentId: acme.environment as EnvironmentId,
};

test('whoever waits for a position sees what was written there', async () => {
  const { store, pen } = await world.log();
  const database = await world.database();
  const model = createReadModel({ url: database, log: silentLog });
  await withProjector({ store, database, tables: [counters] }, async (projector) => {
    await untilLive(projector, 0n);
    for (let round = 0; round < 50; round += 1) {
      const position = await pen.write('c1', [round === 0 ? opened('one') : added(1)]);
      assert.ok(await model.projected.waitFor(position, 20_000));
      const found = await model.reader(caller).find(counters, 'c1');
      assert.is(found?.resource.total, String(round));
    }
    const position = model.projected.position();
    assert.is(await model.projected.waitFor(position + 1_000n, 20), false);
    assert.is(await model.projected.waitFor(position + 1_000n, 20_000, AbortSignal.abort()), false);
  });
  await model.close();
});

test('of those who ask at once each is told of what they asked for, in their own place', async () => {
  const { store, pen } = await world.log();
  const database = await world.database();
  const model = createReadModel({ url: database, log: silentLog, sharesReads: true });
  await withProjector({ store, database, tables: [counters] }, async (projector) => {
    await pen.write('c1', [opened('one')]);
    await untilLive(projector, await pen.write('c2', [opened('two')]));
    const nameOf = async (id: string, place = caller) =>
      (await model.reader(place).find(counters, id))?.resource.name ?? null;
    const stranger = { ...caller, environmentId: 'env_other' as EnvironmentId };
    const asked = Array.from({ length: 5 }, () => [
      nameOf('c1'),
      nameOf('c2'),
      nameOf('c1', stranger),
    ]);
    const told = await Promise.all(asked.flat());
    assert.equal(told, Array.from({ length: 5 }, () => ['one', 'two', null]).flat());
  });
  await model.close();
});

test('the position is kept up to date over lost sessions', async () => {
  const { store, pen } = await world.log();
  const database = await world.database();
  const model = createReadModel({ url: database, log: silentLog });
  await withProjector({ store, database, tables: [counters] }, async (projector) => {
    await untilLive(projector, await pen.write('c1', [opened('one')]));
    await until('it is told', async () =>
      model.check().then(
        () => true,
        () => false,
      ),
    );
    await statement(
      database,
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`,
    );
    const position = await pen.write('c1', [added(5)]);
    assert.ok(await model.projected.waitFor(position, 20_000));
    assert.is((await model.reader(caller).find(counters, 'c1'))?.resource.total, '5');
  });
  await model.close();
});

test('before anything is there, reads are refused for the time being', async () => {
  const database = await world.database({ migrated: false });
  const model = createReadModel({ url: database, log: silentLog });
  const failure = await model
    .reader(caller)
    .find(counters, 'c1')
    .catch((error: unknown) => error);
  assert.instance(failure, Problem);
  assert.is((failure as Problem).code, 'service_unavailable');
  await migrate({ database });
  const unfilled = await model
    .reader(caller)
    .list(counters, { limit: 1, offset: 0 })
    .catch((error: unknown) => error);
  assert.match(String(unfilled), /being built/);
  await model.close();
});

interface Last extends Stamps {
  readonly last: string;
}

test('a caller who insists on a position is not shown a table that stopped before it', async () => {
  const { store, pen } = await world.log();
  const database = await world.database();
  const fragile = projection(counter, {
    name: 'fragile',
    version: 1,
    keys: (event) => [event.aggregate_id],
    fold: (_row: Last | null, event) => {
      if (event.type === 'Archived') throw new Error('no');
      const { occurred_at } = event.stamp;
      return { last: event.type, created_at: occurred_at, updated_at: occurred_at };
    },
    view: (row: Last) => row,
  });
  const model = createReadModel({ url: database, log: silentLog });
  await withProjector({ store, database, tables: [counters, fragile] }, async (projector) => {
    const first = await pen.write('c1', [opened('one')]);
    await untilLive(projector, first);
    const last = await pen.write('c1', [{ type: 'Archived', data: {} }, added(1)]);
    assert.ok(await model.projected.waitFor(last, 20_000));
    await until('it is known to be behind', () => model.behind().includes('fragile'));
    const insisting = model.reader(caller, { atLeast: last });
    assert.is((await insisting.find(counters, 'c1'))?.resource.total, '1');
    const failure = await insisting.find(fragile, 'c1').catch((error: unknown) => error);
    assert.is((failure as Problem).code, 'service_unavailable');
    const content = await model.reader(caller, { atLeast: first }).find(fragile, 'c1');
    assert.is(content?.resource.last, 'Opened');
  });
  await model.close();
});

test('Postgres may go away and come back', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'counterfoil-outage-'));
  const log = await startLog(join(directory, 'log'));
  // A server that forgets what it has not written would lose the migrations with the kill.
  const place = { directory: join(directory, 'postgres'), durable: true };
  let postgres = await startPostgres(place);
  const { url, port } = postgres;
  await migrate({ database: url });
  const projector = startProjector({
    store: log.store,
    database: url,
    tables: [counters],
    log: silentLog,
  });
  const model = createReadModel({ url, log: silentLog, checkoutTimeoutMs: 500 });
  await untilLive(projector, await log.pen.write('c1', [opened('one'), added(1)]));
  assert.is((await model.reader(caller).find(counters, 'c1'))?.resource.total, '1');

  await postgres.kill();
  let failure: unknown = null;
  // A session of the killed server may answer once more before it notices.
  await until('a read fails', () =>
    model
      .reader(caller)
      .find(counters, 'c1')
      .then(
        () => false,
        (error: unknown) => {
          failure = error;
          return true;
        },
      ),
  );
  assert.instance(failure, Problem, String(failure));
  assert.is((failure as Problem).code, 'service_unavailable');
  assert.ok((failure as Problem).retryAfterSeconds);
  await until('it retries', () => projector.status().state === 'retrying');
  const position = await log.pen.write('c1', [added(2), added(4)]);

  postgres = await startPostgres({ ...place, port });
  assert.ok(await model.projected.waitFor(position, 20_000));
  // The kill may have taken the table itself, which is then shown again right after it has been filled.
  await untilLive(projector, position);
  assert.is((await model.reader(caller).find(counters, 'c1'))?.resource.total, '7');
  await projector.stop();
  await model.close();
  await log.close();
  await postgres.stop();
  await rm(directory, { recursive: true, force: true });
});

const engineNames = Object.keys(engineMigrations);

test('several processes may migrate at once, and each migration runs once', async () => {
  const database = await world.database({ migrated: false });
  const add = (table: string) => ({
    up: async (kysely: import('kysely').Kysely<unknown>) => {
      await kysely.schema.withSchema('counterfoil').createTable(table).execute();
    },
  });
  const migrations = {
    sales_0001_first: add('sales_first'),
    billing_0001_first: add('billing_first'),
  };
  const ran = await Promise.all(Array.from({ length: 4 }, () => migrate({ database, migrations })));
  assert.equal(ran.flat(), [...engineNames, 'billing_0001_first', 'sales_0001_first']);
  const more = { ...migrations, accounts_0001_first: add('accounts_first') };
  assert.equal(await migrate({ database, migrations: more }), ['accounts_0001_first']);
  assert.equal(await migrate({ database }), [], 'a program that knows fewer modules');
  const failure = await migrate({ database, migrations: { first: add('x') } }).catch(String);
  assert.match(String(failure), /must be named/);
});

test('says what to do when the database user may not make the role of the readers', async () => {
  const database = await world.database({ migrated: false });
  await statement(
    database,
    `do $$ begin
       if not exists (select from pg_roles where rolname = 'plain') then
         create role plain login password 'plain';
       end if;
     end $$;
     grant create on database ${new URL(database).pathname.slice(1)} to plain`,
  );
  const url = new URL(database);
  url.username = 'plain';
  url.password = 'plain';
  const failure = await migrate({ database: url.href }).catch((error: unknown) => error);
  assert.match(String(failure), /grant counterfoil_reader to "plain"/);
  await statement(database, 'grant counterfoil_reader to plain');
  assert.equal(await migrate({ database: url.href }), engineNames);
});

test('a session that is cut off during a read fails that read alone', async () => {
  const { store, pen } = await world.log();
  const database = await world.database();
  await withProjector({ store, database, tables: [counters] }, async (projector) => {
    await untilLive(projector, await pen.write('c1', [opened('one')]));
  });
  const model = createReadModel({ url: database, log: silentLog });
  const blocker = new Client({ connectionString: database });
  blocker.on('error', () => undefined);
  await blocker.connect();
  await blocker.query('begin; lock table counterfoil.counters_v1 in access exclusive mode');
  const reading = model
    .reader(caller)
    .find(counters, 'c1')
    .catch((error: unknown) => error);
  await until('the read is waiting and was cut off', async () => {
    const ended = await statement(
      database,
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return ended.length > 0;
  });
  assert.is(((await reading) as Problem).code, 'service_unavailable');
  await blocker.query('commit');
  assert.is((await model.reader(caller).find(counters, 'c1'))?.resource.name, 'one');
  await blocker.end();
  await model.close();
});

test('a statement that takes too long is given up', async () => {
  const { store, pen } = await world.log();
  const database = await world.database();
  await withProjector({ store, database, tables: [counters] }, async (projector) => {
    await untilLive(projector, await pen.write('c1', [opened('one')]));
  });
  const model = createReadModel({ url: database, log: silentLog, statementTimeoutMs: 200 });
  const blocker = new Client({ connectionString: database });
  blocker.on('error', () => undefined);
  await blocker.connect();
  await blocker.query('begin; lock table counterfoil.counters_v1 in access exclusive mode');
  const failure = await model
    .reader(caller)
    .find(counters, 'c1')
    .catch((error: unknown) => error);
  assert.is((failure as Problem).code, 'service_unavailable');
  await blocker.query('commit');
  assert.is((await model.reader(caller).find(counters, 'c1'))?.resource.name, 'one');
  await blocker.end();
  await model.close();
});

test.run();
