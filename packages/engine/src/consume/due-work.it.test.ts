import { eventually, MemoryStore } from '@counterfoil/testkit';
import { Client } from 'pg';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { schemaName } from '../database/database.ts';
import { createStreams } from '../decide/streams.ts';
import type { TestClock } from '../define/clock.ts';
import type { DueWork } from '../define/due-work.ts';
import { silentLog, startWorld, type TestWorld } from '../projection/test-world.ts';
import { dueRunner } from './due-run.ts';
import { startDueWork } from './due-work.ts';

const test = suite('due work');
let world: TestWorld;

test.before(async () => {
  world = await startWorld();
});
test.after(() => world.close());

/** More than are looked at in one round. */
const broken = 600;

/** A database with a read table of things, filled by a query of their ids, environments and times. */
async function things(rows: string): Promise<string> {
  const database = await world.database();
  const client = new Client({ connectionString: database });
  await client.connect();
  await client.query(`create schema if not exists ${schemaName}`);
  await client.query(
    `create table ${schemaName}.things
       (id text, tenant_id text, environment_id text, revision integer, due_at timestamptz)`,
  );
  await client.query(
    `insert into ${schemaName}.things
     select id, 'tenant_1', environment_id, 0, due_at::timestamptz
     from (${rows}) as given (id, environment_id, due_at)`,
  );
  await client.end();
  return database;
}

const streams = createStreams({ store: new MemoryStore(), aggregates: [] });
const common = {
  run: dueRunner({ streams, log: silentLog }),
  projected: { position: () => 0n, waitFor: () => Promise.resolve(true) },
  isActive: () => true,
  log: silentLog,
  tickMilliseconds: 1,
};

test('rows whose work fails do not keep others from their turn', async () => {
  const database = await things(
    `select 'broken_' || number, 'env_1', '2026-01-01' from generate_series(1, ${broken}) number
     union all select 'good', 'env_1', '2026-01-02'`,
  );
  let reach: () => void = () => undefined;
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  const tried = new Map<string, number>();
  let rounds = 0;
  const work: DueWork = {
    name: 'end things',
    table: { name: 'things' } as DueWork['table'],
    column: 'due_at',
    run: async (_context, id) => {
      tried.set(id, (tried.get(id) ?? 0) + 1);
      if (id !== 'good') throw new Error('broken');
      reach();
    },
  };
  const loop = startDueWork({
    ...common,
    database,
    work: [work],
    clocks: { testClocks: () => [] },
    time: {
      isRight: async () => {
        rounds += 1;
        if (rounds < 5) assert.is(tried.size, 0, 'nothing is done while the clock is wrong');
        return rounds >= 5;
      },
    },
  });
  await reached;
  await loop.stop();
  assert.is(tried.size, broken + 1);
  assert.is(tried.get('broken_1'), 1, 'what has just failed waits');
});

test('an environment with a clock has its time, and none while that moves', async () => {
  const database = await things(
    `values ('early', 'env_1', '2026-01-01'), ('tenants', null, '2026-01-01'),
            ('ahead', 'env_1', '2999-01-01'), ('standing', 'env_2', '2025-06-01'),
            ('behind', 'env_2', '2026-01-01'), ('moving', 'env_3', '2025-06-01')`,
  );
  const clockOf = (environment: string, advance: object | null): TestClock =>
    ({ environmentId: environment, now: '2025-12-01T00:00:00.000Z', advance }) as TestClock;
  const run = new Set<string>();
  let rounds = 0;
  const loop = startDueWork({
    ...common,
    database,
    work: ['one', 'other'].map((name) => ({
      name,
      table: { name: 'things' } as DueWork['table'],
      column: 'due_at',
      run: async (_context, id) => run.add(`${name} ${id}`),
    })),
    clocks: { testClocks: () => [clockOf('env_2', null), clockOf('env_3', {})] },
    time: {
      isRight: async () => {
        rounds += 1;
        return true;
      },
    },
  });
  await eventually(() => rounds > 5);
  await loop.stop();
  const due = ['early', 'standing', 'tenants'];
  assert.equal(
    [...run].sort(),
    ['one', 'other'].flatMap((name) => due.map((id) => `${name} ${id}`)),
  );
});

test.run();
