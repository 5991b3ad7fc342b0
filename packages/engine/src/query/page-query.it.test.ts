import type { EnvironmentId, TenantId } from '@counterfoil/kernel';
import { type RawBuilder, sql } from 'kysely';
import { Client } from 'pg';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { schemaName } from '../database/database.ts';
import type { AnyProjection } from '../define/projection.ts';
import {
  acme,
  added,
  counters,
  opened,
  silentLog,
  startWorld,
  type TestWorld,
  untilLive,
  withProjector,
} from '../projection/test-world.ts';
import { statusCondition } from './conditions.ts';
import { pageOf } from './page-query.ts';
import { createReadModel, type ReadModel } from './read-model.ts';

const test = suite('plans of lists');
let world: TestWorld;
let client: Client;
let model: ReadModel;

/** Counters whose total stands in every index. One of them has nothing to show. */
const table: AnyProjection = {
  ...counters,
  name: 'listed_counters',
  view: (state) => (state.name === 'name 7' ? null : counters.view(state)),
  columns: {
    ...counters.columns,
    total: { type: 'numeric', of: ({ total }: { total: string }) => total, listed: true },
  },
};

test.before(async () => {
  world = await startWorld();
  const database = await world.database();
  const { store, pen } = await world.log();
  let last = 0n;
  for (let index = 0; index < 40; index += 1) {
    last = await pen.write(`c${index}`, [opened(`name ${index}`), added(index)]);
  }
  await withProjector({ store, database, tables: [table] }, (projector) =>
    untilLive(projector, last),
  );
  model = createReadModel({ url: database, log: silentLog, connections: 2 });
  client = new Client({ connectionString: database });
  await client.connect();
  await client.query(`vacuum analyze ${schemaName}.listed_counters_v${table.version}`);
  // So few rows would be read as a whole otherwise.
  await client.query('set enable_seqscan = off');
  await client.query('set enable_bitmapscan = off');
});

test.after(async () => {
  await model.close();
  await client.end();
  await world.close();
});

/** Ways in which PostgreSQL comes to rows for a page of what fits a condition, as its plan says. */
async function scansOf(condition: RawBuilder<unknown>, isFar: boolean): Promise<readonly string[]> {
  const own = sql`tenant_id = ${acme.tenant} and environment_id = ${acme.environment}`;
  const where = sql`${own} and ${statusCondition(undefined)} and ${condition}`;
  const relation = sql.id(schemaName, table.name);
  const request = { limit: 2, offset: 30 };
  const statement = pageOf({ table, relation, where, own, request }, isFar);
  const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain ${statement.sql}`, [
    ...statement.parameters,
  ]);
  return rows.flatMap(({ 'QUERY PLAN': line }) => {
    const [, scan, index] =
      /(Index Only Scan|Index Scan)(?: Backward)? using (\w+)/.exec(line) ?? [];
    if (scan) return [`${scan.trim()}${index?.endsWith('_pkey') ? ' of the key' : ''}`];
    return line.includes('Seq Scan') ? ['Seq Scan'] : [];
  });
}

const everything = sql`total >= 0::numeric`;

test('rows are counted and skipped by the index alone; those of the page are found by their key', async () => {
  assert.equal(await scansOf(everything, false), [
    'Index Only Scan',
    'Index Only Scan',
    'Index Scan of the key',
  ]);
  const far = await scansOf(everything, true);
  assert.equal(far.toSorted(), [
    'Index Only Scan',
    'Index Only Scan',
    'Index Only Scan',
    'Index Scan of the key',
  ]);
});

test('what has nothing to show is in no list and no total, whatever status is asked for', async () => {
  const reader = model.reader({
    tenantId: acme.tenant as TenantId,
    environmentId: acme.environment as EnvironmentId,
  });
  const page = { limit: 50, offset: 0 };
  const others = { column: 'status', operator: 'not_in', value: ['deleted'] } as const;
  for (const filters of [[], [others]]) {
    const { items, pagination } = await reader.list(table, page, filters);
    assert.equal([items.length, pagination.total], [39, 39]);
  }
  assert.is(await reader.find(table, 'c7'), null);
});

test('what no index has is looked up in the rows', async () => {
  const scans = await scansOf(sql`resource::text <> 'x'`, false);
  assert.ok(scans.includes('Index Scan'), scans.join(', '));
});

test.run();
