import type { EnvironmentId, TenantId } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { AnyProjection } from '../define/projection.ts';
import { createReadModel } from '../query/read-model.ts';
import { verifyReadModel } from '../verification/verify.ts';
import {
  acme,
  added,
  counters,
  opened,
  silentLog,
  startWorld,
  statement,
  type TestWorld,
  untilLive,
  withProjector,
} from './test-world.ts';

const test = suite<{ world: TestWorld }>('members in columns, in a real table');

test.before(async (context) => {
  context.world = await startWorld();
});
test.after(({ world }) => world.close());

/** The same rows with their members in columns, as far as columns give them back. */
const narrow: typeof counters = {
  ...counters,
  name: 'narrow' as typeof counters.name,
  members: {
    total: 'column',
    name: 'column',
    labels: 'json',
    metadata: 'json',
    status: 'column',
    created_at: 'column',
    updated_at: 'column',
  },
};
const tables: readonly AnyProjection[] = [counters, narrow];

const texts = ['plain', 'É "quoted" \\ {}', '', 'a\u0000b', '\u2028', '😀', 'null'];
/** Names with the notes in their metadata: a text that no column and no text of PostgreSQL holds in either place. */
const samples: readonly (readonly [name: string, note: string])[] = [
  ...texts.map((text) => [text, text] as const),
  ['note', 'a\u0000b'],
  ['a\u0000b', 'name'],
];
const amounts = [5, -3, 9.5, 1e-7, 1e21, 0];

/** All that a table shows to requests, by every way of reading. */
async function shown(database: string, table: typeof counters, ids: readonly string[]) {
  const model = createReadModel({ url: database, log: silentLog, connections: 1 });
  try {
    const reader = model.reader({
      tenantId: acme.tenant as TenantId,
      environmentId: acme.environment as EnvironmentId,
    });
    const found = [];
    for (const id of ids) found.push(await reader.find(table, id));
    const many = await reader.findMany(table, ids);
    const page = await reader.list(table, { limit: 50, offset: 0 });
    return JSON.stringify({ found, many: [...many].sort(), page });
  } finally {
    await model.close();
  }
}

test('readers find every resource member by member as in a table that keeps it whole', async ({
  world,
}) => {
  const database = await world.database();
  const { store, pen } = await world.log();
  const ids = samples.map((_, index) => `c${index}`);
  for (const [index, [name, note]] of samples.entries()) {
    await pen.write(`c${index}`, [opened(name, { labels: ['x'], metadata: { note } })]);
  }
  // The second projector has nothing in memory: it reads the rows that the first one wrote.
  for (const amount of amounts) {
    const last = await pen.write('c0', [added(amount)]);
    await withProjector({ store, database, tables }, (projector) => untilLive(projector, last));
    assert.is(await shown(database, narrow, ids), await shown(database, counters, ids));
  }
  const kept = await statement<{ form: string; count: number }>(
    database,
    `select json_typeof(resource) as form, count(*)::int as count
       from counterfoil.narrow_v1 group by 1 order by 1`,
  );
  // Texts and figures that PostgreSQL does not give back as they were are kept with their whole resource.
  assert.equal(kept, [
    { form: 'array', count: 4 },
    { form: 'object', count: samples.length - 4 },
  ]);
  const differences = async () => {
    const report = await verifyReadModel({ store, database, tables, batchMaximum: 3 });
    return report.differences.map(({ table, id, path, actual }) => [table, id, path, actual]);
  };
  assert.equal(await differences(), []);
  await statement(database, `update counterfoil.narrow_v1 set total = 30 where id = 'c1'`);
  assert.equal(await differences(), [['narrow', 'c1', 'resource.total', '30']]);
});

test.run();
