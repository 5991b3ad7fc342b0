/** Real servers for the tests of this folder. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
// biome-ignore lint/correctness/noUndeclaredDependencies: only tests import this file.
import { type RunningServer, startEventStoreServer } from '@counterfoil/embedded-eventstore';
// biome-ignore lint/correctness/noUndeclaredDependencies: only tests import this file.
import { startPostgres } from '@counterfoil/local';
import { Client } from 'pg';
import { migrate } from '../database/migrate.ts';
import { openEventStore } from '../log/event-store.ts';
import type { EventStore, Position } from '../log/types.ts';
import { createLog } from '../operations/log.ts';
import { startProjector } from './projector.ts';
import type { ProjectorOptions } from './session.ts';
import { Pen } from './test-counters.ts';

export * from './test-counters.ts';

/** A log that a test has to itself. */
export interface TestLog {
  readonly server: RunningServer;
  readonly store: EventStore;
  readonly pen: Pen;
  readonly directory: string;
  /** Does something to the files of the store, which keeps the newest events in memory while it runs. */
  whileStopped(work: () => void): Promise<void>;
  close(): Promise<void>;
}

/** The servers of one test file. */
export interface TestWorld {
  /** Connection string of an empty database, ours alone. */
  database(options?: { readonly migrated?: boolean }): Promise<string>;
  log(): Promise<TestLog>;
  close(): Promise<void>;
}

export async function startWorld(): Promise<TestWorld> {
  const directory = await mkdtemp(join(tmpdir(), 'counterfoil-projection-'));
  const postgres = await startPostgres({ directory: join(directory, 'postgres'), durable: false });
  const logs: TestLog[] = [];
  let count = 0;
  return {
    async database({ migrated = true } = {}) {
      count += 1;
      const name = `test_${count}`;
      await statement(postgres.url, `create database ${name}`);
      const url = new URL(postgres.url);
      url.pathname = `/${name}`;
      if (migrated) await migrate({ database: url.href });
      return url.href;
    },
    async log() {
      count += 1;
      const log = await startLog(join(directory, `log_${count}`));
      logs.push(log);
      return log;
    },
    async close() {
      for (const log of logs) await log.close();
      await postgres.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

export async function startLog(directory: string): Promise<TestLog> {
  let server = await startEventStoreServer({ directory });
  const { port } = server;
  const store = openEventStore({ url: server.connectionString });
  let closing: Promise<void> | null = null;
  return {
    server,
    store,
    directory,
    pen: new Pen(store),
    async whileStopped(work) {
      await server.close();
      work();
      server = await startEventStoreServer({ directory, port });
    },
    close() {
      closing ??= store.close().then(() => server.close());
      return closing;
    },
  };
}

/** Runs statements on a database; returns the rows of the last one. */
export async function statement<Row>(
  url: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const result = await client.query(text, [...values]);
    return result.rows as Row[];
  } finally {
    await client.end();
  }
}

export const silentLog = createLog({ level: 'silent', name: 'test' });

/** Runs a projector while the work goes on. */
export async function withProjector<Result>(
  options: Omit<ProjectorOptions, 'log'>,
  work: (projector: ReturnType<typeof startProjector>) => Promise<Result>,
): Promise<Result> {
  const projector = startProjector({ log: silentLog, ...options });
  try {
    return await work(projector);
  } finally {
    await projector.stop();
  }
}

/** Ends a process at once, if it has not ended. */
export async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

const patienceMilliseconds = 120_000;

/** Asks again and again until the answer is true. */
export async function until(what: string, isTrue: () => boolean | Promise<boolean>): Promise<void> {
  const giveUp = Date.now() + patienceMilliseconds;
  while (!(await isTrue())) {
    if (Date.now() > giveUp) throw new Error(`never came: ${what}`);
    await delay(10);
  }
}

/** Waits until everything up to a position is projected and shown. */
export async function untilLive(
  projector: ReturnType<typeof startProjector>,
  position: Position,
): Promise<void> {
  await until(`position ${position} in live tables`, () => {
    const status = projector.status();
    return (
      status.position >= position &&
      status.tables.length > 0 &&
      status.tables.every((table) => table.status === 'live' && !table.behind)
    );
  });
}

/** Everything that readers see of a table, as text, in the order of the keys. */
export async function dump(url: string, table: string): Promise<string[]> {
  const found = await statement<{ row: string }>(
    url,
    `select row(shown.*)::text as row from counterfoil.${table} as shown
      order by tenant_id, environment_id, id`,
  );
  return found.map(({ row }) => row);
}
