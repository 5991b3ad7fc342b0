import { MemoryStore } from '@counterfoil/testkit';
import { Client } from 'pg';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { schemaName } from '../database/database.ts';
import { createStreams } from '../decide/streams.ts';
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

test('rows whose work fails do not keep others from their turn', async () => {
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
     select 'broken_' || number, 'tenant_1', 'env_1', 0, timestamptz '2026-01-01'
     from generate_series(1, ${broken}) number
     union all select 'good', 'tenant_1', 'env_1', 0, timestamptz '2026-01-02'`,
  );
  await client.end();
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
  const streams = createStreams({ store: new MemoryStore(), aggregates: [] });
  const loop = startDueWork({
    database,
    run: dueRunner({ streams, log: silentLog }),
    work: [work],
    clocks: { testClocks: () => [] },
    projected: { position: () => 0n, waitFor: () => Promise.resolve(true) },
    isActive: () => true,
    time: {
      isRight: async () => {
        rounds += 1;
        if (rounds < 5) assert.is(tried.size, 0, 'nothing is done while the clock is wrong');
        return rounds >= 5;
      },
    },
    log: silentLog,
    tickMilliseconds: 1,
  });
  await reached;
  await loop.stop();
  assert.is(tried.size, broken + 1);
  assert.is(tried.get('broken_1'), 1, 'what has just failed waits');
});

test.run();
