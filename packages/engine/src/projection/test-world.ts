import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
// biome-ignore lint/correctness/noUndeclaredDependencies: only tests import this file.
import { type RunningServer, startEventStoreServer } from '@counterfoil/embedded-eventstore';
import { aggregate, type Instant, instantOf, type Stamp } from '@counterfoil/kernel';
// biome-ignore lint/correctness/noUndeclaredDependencies: only tests import this file.
import { startPostgres } from '@counterfoil/local';
import { Client } from 'pg';
import { z } from 'zod';
import { type AnyReadTable, documents, rows } from '../define/read-table.ts';
import { openEventStore } from '../log/event-store.ts';
import { type ChainHead, chained, emptyChain } from '../log/hash-chain.ts';
import type { EventStore, NewEvent, Position } from '../log/types.ts';
import { createLog } from '../operations/log.ts';
import { migrate } from './migrate.ts';
import { type ProjectorOptions, startProjector } from './projector.ts';

/** An aggregate with no meaning but to have numbers to add up. */
export const counter = aggregate({
  name: 'counter',
  scope: 'environment',
  events: {
    Opened: z.object({ name: z.string(), labels: z.array(z.string()), metadata: z.unknown() }),
    Added: z.object({ amount: z.number(), note: z.string().optional() }),
    Archived: z.object({}),
    Deleted: z.object({}),
  },
  initial: {
    name: '',
    labels: [],
    metadata: {},
    total: 0,
    status: 'published',
    at: '',
    last: '',
  } as {
    name: string;
    labels: string[];
    metadata: unknown;
    total: number;
    status: 'published' | 'archived' | 'deleted';
    at: string;
    last: string;
  },
  evolve(state, event) {
    const last = event.stamp.occurred_at;
    switch (event.type) {
      case 'Opened':
        return { ...state, ...event.data, at: last, last };
      case 'Added':
        return { ...state, total: state.total + event.data.amount, last };
      case 'Archived':
        return { ...state, status: 'archived' as const, last };
      case 'Deleted':
        return { ...state, status: 'deleted' as const, last };
      default:
        return event satisfies never;
    }
  },
});

type CounterState = typeof counter.initial;

/** The resource of a counter; members in an order that jsonb would not keep. */
export const counterView = (state: CounterState) => ({
  total: String(state.total),
  name: state.name,
  labels: state.labels,
  metadata: state.metadata,
  status: state.status,
  created_at: state.at,
  updated_at: state.last,
});

const counterColumns = {
  name: { type: 'text', of: (shown: ReturnType<typeof counterView>) => shown.name, index: true },
  total: { type: 'numeric', of: (shown: ReturnType<typeof counterView>) => shown.total },
  size: { type: 'integer', of: (shown: ReturnType<typeof counterView>) => shown.name.length },
  is_big: { type: 'boolean', of: (shown: ReturnType<typeof counterView>) => +shown.total > 100 },
  labels: {
    type: 'text[]',
    of: (shown: ReturnType<typeof counterView>) => shown.labels,
    index: true,
  },
  opened_at: {
    type: 'timestamptz',
    of: (shown: ReturnType<typeof counterView>) => shown.created_at,
  },
} as const;

export const counters = documents(counter, {
  name: 'counters',
  version: 1,
  view: counterView,
  columns: counterColumns,
});

/** The same rows in another dress, as after a change of the view. */
export const countersSecond = documents(counter, {
  name: 'counters',
  version: 2,
  view: (state) => ({ ...counterView(state), doubled: String(state.total * 2) }),
  columns: {
    ...counterColumns,
    doubled: { type: 'numeric', of: (shown) => (shown as { doubled: string }).doubled },
  },
});

/** One row per addition. */
export const additions = rows(counter, {
  name: 'additions',
  version: 1,
  columns: {
    amount: { type: 'integer', of: (shown) => (shown as { amount: number }).amount },
  },
  keys: (event) => (event.type === 'Added' ? [event.event_id] : []),
  fold: (_row: { amount: number; counter_id: string } | null, event) =>
    event.type === 'Added' ? { amount: event.data.amount, counter_id: event.aggregate_id } : null,
  view: (row) => row,
});

/** Rows that come and go, and that several streams share: one per label in use. */
export const labels = rows(counter, {
  name: 'labels',
  version: 1,
  keys: (event) =>
    event.type === 'Opened' ? event.data.labels : event.type === 'Archived' ? ['gone'] : [],
  fold: (row: { uses: number } | null, event, key) =>
    event.type === 'Archived' || (key === 'fleeting' && row)
      ? null
      : { uses: (row?.uses ?? 0) + 1 },
  view: (row) => ({ uses: row.uses }),
});

export const allTables: readonly AnyReadTable[] = [counters, additions, labels];

/** An aggregate of the tenant as a whole. */
export const member = aggregate({
  name: 'member',
  scope: 'tenant',
  events: { Joined: z.object({ name: z.string() }) },
  initial: { name: '' },
  evolve: (_state, event) => ({ name: event.data.name }),
});

export const members = documents(member, { name: 'members', version: 1, view: (state) => state });

export interface Owner {
  readonly tenant: string;
  readonly environment: string;
}

export const acme: Owner = { tenant: 'tenant_acme', environment: 'env_acme' };
export const bolt: Owner = { tenant: 'tenant_bolt', environment: 'env_bolt' };

export interface TestEvent {
  readonly type: string;
  readonly data: unknown;
}

export const opened = (name: string, more: object = {}): TestEvent => ({
  type: 'Opened',
  data: { name, labels: [], metadata: {}, ...more },
});
export const added = (amount: number): TestEvent => ({ type: 'Added', data: { amount } });

const firstInstant = Date.parse('2026-01-01T00:00:00.000Z');

/** Writes chained events to a log of its own. */
export class Pen {
  readonly store: EventStore;
  readonly #heads = new Map<string, ChainHead>();
  #clock = 0;

  constructor(store: EventStore) {
    this.store = store;
  }

  /** Appends to one record's stream; gives the position of the last event. */
  async write(
    id: string,
    events: readonly TestEvent[],
    { tenant, environment }: Owner = acme,
    category = 'counter',
  ): Promise<Position> {
    const scope = category === 'member' ? tenant : environment;
    const stream = `${category}-${scope}.${id}`;
    let head = this.#heads.get(stream) ?? emptyChain;
    const first = head.revision;
    const written: NewEvent[] = events.map(({ type, data }) => {
      const metadata = {
        tenant_id: tenant,
        environment_id: category === 'member' ? null : environment,
        actor: { user_id: 'user_test' as NonNullable<Stamp['actor']['user_id']>, key_id: null },
        occurred_at: this.#next(),
        schema_version: 1,
        $correlationId: 'req_test',
        $causationId: 'req_test',
        prev: head.hash,
      };
      const next = chained(stream, head.revision + 1, { id: randomUUID(), type, data, metadata });
      head = { revision: head.revision + 1, hash: next.event.metadata.hash };
      return next.event;
    });
    const { position } = await this.store.append(stream, written, first);
    this.#heads.set(stream, head);
    return position;
  }

  #next(): Instant {
    this.#clock += 1;
    return instantOf(firstInstant + this.#clock * 1_000);
  }
}

/** A log that a test has to itself. */
export interface TestLog {
  readonly server: RunningServer;
  readonly store: EventStore;
  readonly pen: Pen;
  readonly directory: string;
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
  const server = await startEventStoreServer({ directory });
  const store = openEventStore({ url: server.connectionString });
  let closing: Promise<void> | null = null;
  return {
    server,
    store,
    directory,
    pen: new Pen(store),
    close() {
      closing ??= store.close().then(() => server.close());
      return closing;
    },
  };
}

/** Runs statements on a database; gives the rows of the last one. */
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

const patienceMilliseconds = 20_000;

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
