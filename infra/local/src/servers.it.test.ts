import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type NatsConnection } from 'nats';
import pg from 'pg';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startEventStore } from './event-store.ts';
import type { LocalServer } from './local-server.ts';
import { openLogFile } from './log-file.ts';
import { startNats } from './nats.ts';
import { startPostgres } from './postgres.ts';
import { isRunning } from './process-record.ts';
import { superviseServer } from './supervise.ts';
import { eventually, runElsewhere } from './test-process.ts';

const test = suite('local servers');
let folder: string;

test.before.each(() => {
  folder = mkdtempSync(join(tmpdir(), 'counterfoil-servers-'));
});
test.after.each(() => rmSync(folder, { recursive: true, force: true }));

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  // The server may be killed while connected; what matters is the answer to the query.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function withNats<T>(url: string, use: (connection: NatsConnection) => Promise<T>) {
  const connection = await connect({ servers: url });
  try {
    return await use(connection);
  } finally {
    await connection.close();
  }
}

const publish = (url: string, text: string) =>
  withNats(url, async (connection) => {
    const manager = await connection.jetstreamManager();
    await manager.streams.add({ name: 'letters', subjects: ['letters.>'] });
    await connection.jetstream().publish('letters.a', new TextEncoder().encode(text));
  });

const lastLetter = (url: string) =>
  withNats(url, async (connection) => {
    const manager = await connection.jetstreamManager();
    return (await manager.streams.getMessage('letters', { last_by_subj: 'letters.a' })).string();
  });

test('PostgreSQL keeps committed rows through a kill and an orderly stop, on the same port', async () => {
  const first = await startPostgres({ directory: folder });
  await query(first.url, 'create table kept (word text)');
  await query(first.url, "insert into kept values ('before the kill')");
  await first.kill();
  const second = await startPostgres({ directory: folder, port: first.port });
  assert.is(second.url, first.url);
  assert.equal(await query(second.url, 'select word from kept'), [{ word: 'before the kill' }]);
  await second.stop();
  const third = await startPostgres({ directory: folder, port: first.port });
  assert.is((await query(third.url, 'select word from kept')).length, 1);
  await third.stop();
});

test('PostgreSQL is set up as the application expects', async () => {
  const server = await startPostgres({ directory: folder, durable: false });
  const [row] = await query(
    server.url,
    `select current_database() as name, pg_encoding_to_char(encoding) as encoding, datcollate as
     collation, rolsuper as superuser, current_setting('timezone') as zone,
     current_setting('fsync') as fsync, current_setting('max_connections') as connections
     from pg_database, pg_roles where datname = current_database() and rolname = current_user`,
  );
  assert.equal(
    { ...row },
    {
      ...{ name: 'counterfoil', encoding: 'UTF8', collation: 'C', superuser: false },
      ...{ zone: 'UTC', fsync: 'off', connections: '100' },
    },
  );
  await server.stop();
});

test('throw-away clusters are copies of the template of the run, and one that is to last is made anew', async () => {
  const before = process.env.COUNTERFOIL_TEST_CLUSTER;
  process.env.COUNTERFOIL_TEST_CLUSTER = join(folder, 'template');
  try {
    const start = (name: string, durable: boolean) =>
      startPostgres({ directory: join(folder, name), durable });
    const servers = [
      await start('one', false),
      await start('two', false),
      await start('three', true),
    ];
    const passwords = servers.map(({ url }) => new URL(url).password);
    assert.equal([passwords[0] === passwords[1], passwords[0] === passwords[2]], [true, false]);
    await query(servers[0]?.url ?? '', 'create table own (word text)');
    for (const { url } of servers.slice(1)) {
      assert.equal(await query(url, "select to_regclass('own')::text as own"), [{ own: null }]);
    }
    await Promise.all(servers.map((server) => server.stop()));
  } finally {
    if (before === undefined) delete process.env.COUNTERFOIL_TEST_CLUSTER;
    else process.env.COUNTERFOIL_TEST_CLUSTER = before;
  }
});

test('PostgreSQL lets nobody in without the password, which only the owner can read', async () => {
  const server = await startPostgres({ directory: folder, durable: false });
  const stranger = server.url.replace(/:[0-9a-f]+@/, ':wrong@');
  const failure = await query(stranger, 'select 1').catch((error: unknown) => error);
  assert.match(String(failure), 'password authentication failed');
  assert.is(statSync(join(folder, 'password')).mode & 0o777, 0o600);
  await server.stop();
});

test('PostgreSQL starts although another program has the pid that a killed server left', async () => {
  const first = await startPostgres({ directory: folder, durable: false });
  await first.kill();
  // PostgreSQL only minds processes of its own account, so the other program runs as that.
  const { uid, gid } = statSync(join(folder, 'data'));
  const account = process.getuid?.() === 0 ? { uid, gid } : {};
  const other = spawn('sleep', ['600'], { cwd: '/', stdio: 'ignore', ...account });
  const lines = [String(other.pid), join(folder, 'data'), '1', String(first.port), '', '', '', ''];
  writeFileSync(join(folder, 'data', 'postmaster.pid'), `${lines.join('\n')}\n`);
  const second = await startPostgres({ directory: folder, durable: false }).finally(() => {
    other.kill('SIGKILL');
  });
  await second.stop();
});

test('PostgreSQL says why it does not start', async () => {
  const first = await startPostgres({ directory: folder, durable: false });
  const other = startPostgres({ directory: join(folder, 'other'), port: first.port });
  const failure = await other.catch((error: unknown) => error);
  await first.stop();
  assert.match(String(failure), /PostgreSQL did not start[\s\S]*[Aa]ddress already in use/);
});

test('JetStream keeps stored messages through a kill and an orderly stop, on the same port', async () => {
  const first = await startNats({ directory: folder });
  await publish(first.url, 'dear reader');
  await first.kill();
  const second = await startNats({ directory: folder, port: first.port });
  assert.is(second.url, first.url);
  assert.is(await lastLetter(second.url), 'dear reader');
  await second.stop();
  const third = await startNats({ directory: folder, port: first.port });
  assert.is(await lastLetter(third.url), 'dear reader');
  await third.stop();
});

test('nats-server is not taken for ready when another one has the port', async () => {
  const first = await startNats({ directory: join(folder, 'first') });
  const failure = await startNats({ directory: join(folder, 'second'), port: first.port }).catch(
    (error: unknown) => error,
  );
  await first.stop();
  assert.match(String(failure), /nats-server did not start[\s\S]*address already in use/);
});

test('the event store starts again on the same port after a kill', async () => {
  const first = await startEventStore({ directory: folder });
  await first.kill();
  const second = await startEventStore({ directory: folder, port: first.port });
  assert.is(second.url, first.url);
  await second.stop();
  assert.not(isRunning(second.pid));
});

test('no server outlives a killed parent, and the next start waits for their end', async () => {
  const parent = await runElsewhere(`
    import { startEventStore } from './event-store.ts';
    import { startNats } from './nats.ts';
    import { startPostgres } from './postgres.ts';
    const folder = ${JSON.stringify(folder)};
    const servers = await Promise.all([
      startPostgres({ directory: folder + '/postgres' }),
      startNats({ directory: folder + '/nats' }),
      startEventStore({ directory: folder + '/event-store' }),
    ]);
    console.log(JSON.stringify(servers.map(({ pid, port }) => ({ pid, port }))));`);
  const former: { pid: number; port: number }[] = JSON.parse(parent.firstLine);
  assert.ok(former.every(({ pid }) => isRunning(pid)));
  await parent.end('SIGKILL');
  const [postgres, nats, store] = former.map(({ port }) => port);
  const servers: LocalServer[] = await Promise.all([
    startPostgres({ directory: join(folder, 'postgres'), port: postgres ?? 0 }),
    startNats({ directory: join(folder, 'nats'), port: nats ?? 0 }),
    startEventStore({ directory: join(folder, 'event-store'), port: store ?? 0 }),
  ]);
  await eventually('all have ended', () => former.every(({ pid }) => !isRunning(pid)));
  await Promise.all(servers.map((server) => server.stop()));
  assert.ok(servers.every(({ pid }) => !isRunning(pid)));
});

test('a supervised server is started again on its port when it is killed', async () => {
  const log = openLogFile(join(folder, 'counterfoil.log'));
  let port: number | undefined;
  const kept = superviseServer({
    name: 'nats',
    restart: { initialDelayMs: 1, maxDelayMs: 100 },
    log,
    errors: () => undefined,
    start: async () => {
      const directory = join(folder, 'nats');
      const server = await startNats({ directory, ...(port === undefined ? {} : { port }) });
      port = server.port;
      return server;
    },
  });
  const first = await kept.ready;
  await publish(first.url, 'dear reader');
  process.kill(first.pid, 'SIGKILL');
  await eventually('another one', () => kept.pid() !== undefined && kept.pid() !== first.pid);
  assert.is(await lastLetter(first.url), 'dear reader');
  await kept.stop();
  log.close();
});

test.run();
