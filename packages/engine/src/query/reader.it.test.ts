import { type EnvironmentId, Problem, type TenantId } from '@counterfoil/kernel';
import { sql } from 'kysely';
import { Client } from 'pg';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Reader } from '../define/context.ts';
import type { FilterOf, FilterOperator, PageRequest } from '../define/listing.ts';
import { fromJson } from '../define/tables.ts';
import {
  acme,
  added,
  bolt,
  counters,
  members,
  type Owner,
  opened,
  silentLog,
  startWorld,
  statement,
  type TestWorld,
  untilLive,
  withProjector,
} from '../projection/test-world.ts';
import { createReadModel, type ReadModel } from './read-model.ts';

const test = suite('reader');
let world: TestWorld;
let database: string;
let model: ReadModel;

const principal = ({ tenant, environment }: Owner) => ({
  tenantId: tenant as TenantId,
  environmentId: environment as EnvironmentId,
});

/** Same tenant as acme, another environment. */
const acmeTest: Owner = { tenant: 'tenant_acme', environment: 'env_acme_test' };

/** Name, total, labels and metadata of the counters of acme, oldest first. */
const samples: readonly [string, number, string[], Record<string, string>][] = [
  ['Alpha', 5, ['red', 'blue'], { team: 'a', tier: 'gold' }],
  ['beta', 150, ['red'], { team: 'a' }],
  ['Gamma Ray', 9.5, [], { team: 'b' }],
  ['ÉCLAIR', 10, ['green'], {}],
  ['50% _off\\', -3, ['blue'], { team: 'c' }],
];

test.before(async () => {
  world = await startWorld();
  database = await world.database();
  const { store, pen } = await world.log();
  for (const [index, [name, total, labels, metadata]] of samples.entries()) {
    await pen.write(`c${index}`, [opened(name, { labels, metadata }), added(total)]);
  }
  await pen.write('kept', [opened('kept'), { type: 'Archived', data: {} }]);
  await pen.write('lost', [opened('lost'), { type: 'Deleted', data: {} }]);
  await pen.write('c1', [opened('other tenant'), added(77)], bolt);
  await pen.write('t1', [opened('other environment')], acmeTest);
  await pen.write('m1', [{ type: 'Joined', data: { name: 'Ann' } }], acme, 'member');
  const last = await pen.write('m1', [{ type: 'Joined', data: { name: 'Bob' } }], bolt, 'member');
  await withProjector({ store, database, tables: [counters, members] }, (projector) =>
    untilLive(projector, last),
  );
  model = createReadModel({ url: database, log: silentLog, connections: 2 });
});
test.after(async () => {
  await model.close();
  await world.close();
});

const reader = (owner: Owner = acme): Reader => model.reader(principal(owner));

type Filter = FilterOf<typeof counters>;

const listed = async (
  filters: readonly Filter[],
  request: Partial<PageRequest<'total' | 'size' | 'is_big'>> = {},
) => {
  const page = await reader().list(counters, { limit: 50, offset: 0, ...request }, filters);
  return page.items.map(({ name }) => name);
};

test('ids alone are found by filters, of the caller, without what was deleted', async () => {
  const red = [{ column: 'labels', operator: 'eq', value: 'red' }] as const;
  const ids = (owner: Owner, filters: readonly Filter[], maximum = 50) =>
    reader(owner).ids(counters, filters, maximum);
  assert.equal([...(await ids(acme, red))].sort(), ['c0', 'c1']);
  assert.equal(await ids(bolt, []), ['c1']);
  assert.not((await ids(acme, [])).includes('lost'));
  assert.is((await ids(acme, red, 1)).length, 1);
});

test('lists newest first, with the exact total whatever the page', async () => {
  const names = samples.map(([name]) => name).toReversed();
  const first = await reader().list(counters, { limit: 2, offset: 0 });
  assert.equal(
    first.items.map(({ name }) => name),
    names.slice(0, 2),
  );
  assert.equal(first.pagination, { limit: 2, offset: 0, total: 5 });
  const last = await reader().list(counters, { limit: 2, offset: 4 });
  assert.equal(
    last.items.map(({ name }) => name),
    names.slice(4),
  );
  const beyond = await reader().list(counters, { limit: 2, offset: 40 });
  assert.equal(beyond, { items: [], pagination: { limit: 2, offset: 40, total: 5 } });
  assert.equal(await listed([], { order: 'asc' }), names.toReversed());
});

test('a page is the same whether it is read from the beginning or from the end', async () => {
  const far = createReadModel({ url: database, log: silentLog, connections: 2, farOffset: 0 });
  try {
    const sorts = [
      undefined,
      [{ column: 'name', order: 'asc' }],
      [{ column: 'total', order: 'desc' }],
      [{ column: 'updated_at', order: 'asc' }],
    ] as const;
    for (const sort of sorts) {
      for (const order of ['asc', 'desc'] as const) {
        for (let offset = 0; offset <= 7; offset += 1) {
          for (const limit of [1, 2, 50]) {
            const request = { limit, offset, order, sort };
            const page = await far.reader(principal(acme)).list(counters, request);
            assert.equal(page, await reader().list(counters, request), JSON.stringify(request));
          }
        }
      }
    }
  } finally {
    await far.close();
  }
});

test('gives the resource as the view made it, member by member', async () => {
  const found = await reader().find(counters, 'c0');
  assert.is(
    JSON.stringify(found?.resource),
    '{"total":"5","name":"Alpha","labels":["red","blue"],"metadata":{"team":"a","tier":"gold"},' +
      '"status":"published","created_at":"2026-01-01T00:00:01.000Z",' +
      '"updated_at":"2026-01-01T00:00:02.000Z"}',
  );
  assert.is(found?.revision, 1);
});

test('sorts by any column, the id deciding between equals', async () => {
  const sortBy = (column: 'total' | 'size' | 'is_big', order: 'asc' | 'desc') =>
    listed([], { sort: [{ column, order }] });
  const byTotal = ['50% _off\\', 'Alpha', 'Gamma Ray', 'ÉCLAIR', 'beta'];
  assert.equal(await sortBy('total', 'asc'), byTotal);
  assert.equal(await sortBy('total', 'desc'), byTotal.toReversed());
  const bySize = ['beta', 'Alpha', 'ÉCLAIR', 'Gamma Ray', '50% _off\\'];
  assert.equal(await sortBy('size', 'asc'), bySize);
  assert.equal(await sortBy('is_big', 'asc'), [
    'Alpha',
    'Gamma Ray',
    'ÉCLAIR',
    '50% _off\\',
    'beta',
  ]);
  assert.equal(await sortBy('is_big', 'desc'), [
    'beta',
    '50% _off\\',
    'ÉCLAIR',
    'Gamma Ray',
    'Alpha',
  ]);
});

const filterTable: readonly [string, FilterOperator, unknown, string[]][] = [
  ['name', 'eq', 'beta', ['beta']],
  ['name', 'eq', 'BETA', []],
  ['name', 'contains', 'AM', ['Gamma Ray']],
  ['name', 'contains', 'é', ['ÉCLAIR']],
  ['name', 'contains', '% _o', ['50% _off\\']],
  ['name', 'contains', '\\', ['50% _off\\']],
  ['name', 'contains', '_', ['50% _off\\']],
  ['name', 'not_contains', 'a', ['50% _off\\']],
  ['name', 'in', ['beta', 'Alpha', 'none'], ['Alpha', 'beta']],
  ['name', 'in', [], []],
  ['name', 'not_in', ['beta', 'Alpha'], ['Gamma Ray', 'ÉCLAIR', '50% _off\\']],
  ['name', 'eq', "'; drop table x; --", []],
  // As text, 150 would be less than 9.5 and 10 less than 5.
  ['total', 'gt', '9.5', ['beta', 'ÉCLAIR']],
  ['total', 'gte', 9.5, ['beta', 'Gamma Ray', 'ÉCLAIR']],
  ['total', 'lt', 5, ['50% _off\\']],
  ['total', 'lte', '5.000', ['Alpha', '50% _off\\']],
  ['total', 'eq', '150.0', ['beta']],
  ['total', 'in', ['5', 10], ['Alpha', 'ÉCLAIR']],
  ['size', 'gt', 5.5, ['Gamma Ray', 'ÉCLAIR', '50% _off\\']],
  ['size', 'eq', '4', ['beta']],
  ['size', 'not_in', [4, 5], ['Gamma Ray', 'ÉCLAIR', '50% _off\\']],
  ['is_big', 'eq', true, ['beta']],
  ['is_big', 'eq', 'false', ['Alpha', 'Gamma Ray', 'ÉCLAIR', '50% _off\\']],
  ['opened_at', 'lt', '2026-01-01T00:00:03Z', ['Alpha']],
  ['created_at', 'gte', '2026-01-01T01:00:07+01:00', ['ÉCLAIR', '50% _off\\']],
  ['labels', 'contains', 'blue', ['Alpha', '50% _off\\']],
  ['labels', 'eq', 'red', ['Alpha', 'beta']],
  ['labels', 'in', ['green', 'blue'], ['Alpha', 'ÉCLAIR', '50% _off\\']],
  ['labels', 'not_in', ['red'], ['Gamma Ray', 'ÉCLAIR', '50% _off\\']],
  ['metadata', 'metadata', { team: 'a' }, ['Alpha', 'beta']],
  ['metadata', 'metadata', { team: 'a', tier: 'gold' }, ['Alpha']],
  ['metadata', 'metadata', {}, ['Alpha', 'beta', 'Gamma Ray', 'ÉCLAIR', '50% _off\\']],
  ['id', 'in', ['c1', 'kept', 'lost', 't1'], ['beta']],
  ['status', 'eq', 'archived', ['kept']],
  ['status', 'in', ['archived', 'deleted'], ['kept', 'lost']],
];

for (const [column, operator, value, expected] of filterTable) {
  test(`${column} ${operator} ${JSON.stringify(value)}`, async () => {
    const filters = [{ column, operator, value, pointer: '/filters/0/value' }];
    const page = await reader().list(counters, { limit: 50, offset: 0, order: 'asc' }, filters);
    assert.equal(
      page.items.map(({ name }) => name),
      expected,
    );
    assert.is(page.pagination.total, expected.length);
  });
}

const unfitTable: readonly [string, FilterOperator, unknown][] = [
  ['total', 'gt', 'much'],
  ['size', 'in', ['1', 'x']],
  ['size', 'contains', '1'],
  ['is_big', 'eq', 'maybe'],
  ['opened_at', 'lt', 'yesterday'],
  ['opened_at', 'eq', '1'],
  ['opened_at', 'gt', '2026-02-30T00:00:00Z'],
  ['labels', 'gt', 'a'],
  ['name', 'in', 'beta'],
  ['name', 'eq', { sub: 'object' }],
  ['metadata', 'metadata', 'text'],
];

for (const [column, operator, value] of unfitTable) {
  test(`refuses ${column} ${operator} ${JSON.stringify(value)}`, async () => {
    const failure = await listed([{ column, operator, value, pointer: '/filters/0/value' }]).catch(
      (error: unknown) => error,
    );
    assert.instance(failure, Problem);
    assert.is((failure as Problem).code, 'validation_error');
  });
}

test('takes 1,000 values in all filters together', async () => {
  const among = (count: number) => ({
    column: 'name',
    operator: 'in' as const,
    pointer: '/filters/0/value',
    value: ['beta', ...Array.from({ length: count - 1 }, (_, index) => `other ${index}`)],
  });
  assert.equal(await listed([among(999), among(1)]), ['beta']);
  const failure = await listed([among(999), among(2)]).catch((error: unknown) => error);
  assert.instance(failure, Problem);
  assert.is((failure as Problem).code, 'validation_error');
});

test('shows archived and deleted records only to those who ask for them', async () => {
  assert.equal(await listed([], { status: ['archived'] }), ['kept']);
  assert.equal(await listed([], { status: ['deleted'] }), ['lost']);
  assert.is((await listed([], { status: ['published', 'archived'] })).length, 6);
  assert.is((await reader().find(counters, 'kept'))?.resource.status, 'archived');
  assert.is(await reader().find(counters, 'lost'), null);
  const named = (value: string) =>
    reader().first(counters, [{ column: 'name', operator: 'eq', value }]);
  assert.is((await named('kept'))?.resource.name, 'kept');
  assert.is(await named('lost'), null);
});

test('keeps tenants and environments apart', async () => {
  assert.is((await reader(bolt).find(counters, 'c1'))?.resource.name, 'other tenant');
  assert.is((await reader(acme).find(counters, 'c1'))?.resource.name, 'beta');
  assert.is(await reader(bolt).find(counters, 'c0'), null);
  assert.is(await reader(acme).find(counters, 't1'), null);
  const page = await reader(bolt).list(counters, { limit: 50, offset: 0 });
  assert.is(page.pagination.total, 1);
  // A record of the tenant is seen from each of its environments.
  assert.is((await reader(acmeTest).find(members, 'm1'))?.resource.name, 'Ann');
  assert.is((await reader(bolt).find(members, 'm1'))?.resource.name, 'Bob');
  // An environment's id alone opens nothing.
  const mixed = { tenant: 'tenant_bolt', environment: 'env_acme' };
  assert.is(await reader(mixed).find(counters, 'c0'), null);
});

test('the first wall: the conditions hold without row-level security', async () => {
  const tables = ['counters_v1', 'members_v1'];
  const change = (what: string) =>
    statement(
      database,
      tables
        .map((table) => `alter table counterfoil.${table} ${what} row level security`)
        .join(';'),
    );
  await change('disable');
  try {
    assert.is((await reader(bolt).find(counters, 'c1'))?.resource.name, 'other tenant');
    assert.is(await reader(bolt).find(counters, 'c0'), null);
    assert.is(await reader(acme).find(counters, 't1'), null);
    assert.is((await reader(bolt).find(members, 'm1'))?.resource.name, 'Bob');
    const page = await reader(bolt).list(counters, { limit: 50, offset: 0 });
    assert.is(page.pagination.total, 1);
    const mixed = { tenant: 'tenant_bolt', environment: 'env_acme' };
    assert.is(await reader(mixed).find(counters, 'c0'), null);
  } finally {
    await change('enable');
  }
});

test('the second wall: without a condition the reader role sees its own rows only', async () => {
  const client = new Client({ connectionString: database });
  await client.connect();
  try {
    const seen = async (relation: string): Promise<string[]> => {
      const { rows } = await client.query(`select id from counterfoil.${relation} order by id`);
      return rows.map(({ id }) => id);
    };
    await client.query('set role counterfoil_reader');
    for (const relation of ['counters', 'counters_v1', 'members', 'members_v1']) {
      assert.equal(await seen(relation), [], `${relation} without a tenant`);
    }
    await client.query(`select set_config('counterfoil.tenant', 'tenant_acme', false),
                               set_config('counterfoil.environment', 'env_acme_test', false)`);
    assert.equal(await seen('counters'), ['t1']);
    assert.equal(await seen('counters_v1'), ['t1']);
    assert.equal(await seen('members'), ['m1']);
    await client.query(`select set_config('counterfoil.tenant', 'tenant_bolt', false)`);
    assert.equal(await seen('counters'), [], 'tenant and environment must both fit');
    const refused = async (text: string): Promise<string> =>
      client.query(text).then(
        () => 'allowed',
        (error: Error) => error.message,
      );
    assert.match(await refused('select state from counterfoil.counters_v1'), /permission denied/);
    assert.match(await refused('delete from counterfoil.counters_v1'), /permission denied/);
    assert.match(await refused('select * from counterfoil.projection'), /permission denied/);
  } finally {
    await client.end();
  }
});

/** Counters beside the members of the same tenant, which have no column in common. */
const beside = (owner: Owner) =>
  reader(owner).query([counters, members], (from) =>
    from
      .selectFrom('counters as counter')
      .innerJoin('members as member', 'member.tenant_id', 'counter.tenant_id')
      .select(['counter.id', 'counter.total', 'member.resource'])
      .where('counter.status', '=', 'published')
      .orderBy('counter.id')
      .limit(2),
  );

test('one statement joins several tables, of which it sees the rows of its caller', async () => {
  const named = async (owner: Owner) =>
    (await beside(owner)).map(({ id, total, resource }) => [id, total, fromJson(resource).name]);
  assert.equal(await named(acme), [
    ['c0', '5', 'Ann'],
    ['c1', '150', 'Ann'],
  ]);
  assert.equal(await named(bolt), [['c1', '77', 'Bob']]);
  assert.equal(await named(acmeTest), [['t1', '0', 'Ann']]);
});

test('a statement over several tables can only read, and has a limit', async () => {
  const setting = sql<string>`current_setting('transaction_read_only')`;
  const [row] = await reader().query([], (from) =>
    from.selectNoFrom(setting.as('isReadOnly')).limit(1),
  );
  assert.is(row?.isReadOnly, 'on');
  const everything = reader().query([counters], (from) => from.selectFrom('counters').selectAll());
  const outcome = await everything.then(
    () => 'allowed',
    (error: Error) => error.message,
  );
  assert.match(outcome, /needs a limit/);
});

test('many callers at a time, few sessions: each gets its own', async () => {
  const owners = [acme, bolt, acmeTest];
  const names = ['beta', 'other tenant', undefined];
  await Promise.all(
    Array.from({ length: 120 }, async (_, index) => {
      const owner = owners[index % 3] ?? acme;
      const found = await reader(owner).find(counters, 'c1');
      assert.is(found?.resource.name, names[index % 3]);
    }),
  );
});

test.run();
