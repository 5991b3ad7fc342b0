import { pointersOf, rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createScheduledTaskSchema, updateScheduledTaskSchema } from './schema.ts';
import { scheduledWorld, someJob } from './test-scheduled-world.ts';

const test = suite('scheduled tasks');

const start = '2026-01-01T00:00:00.000Z';

test('a task shows every field of the contract, and what it leaves out with its default', async () => {
  const { create, call, connectionId } = await scheduledWorld();
  const made = await create();
  assert.equal(made, await call('GET /tasks/scheduled/{id}', { params: { id: made.id } }));
  assert.match(made.id, /^schtask_/);
  assert.equal(made, {
    id: made.id,
    tenant_id: 'tenant_01',
    environment_id: 'env_01',
    connection_id: connectionId,
    entity_type: 'events',
    interval: 'hourly',
    timezone: 'UTC',
    enabled: true,
    status: 'published',
    job_config: {
      bucket: 'warehouse',
      region: 'eu-central-1',
      key_prefix: '',
      endpoint_url: null,
      use_path_style: false,
      compression: 'none',
      encryption: 'AES256',
      format: 'csv',
      window_by: 'recorded',
      export_metadata_fields: [],
    },
    created_at: start,
    updated_at: start,
    next_run_at: '2026-01-01T01:15:00.000Z',
    exported_until: start,
  });
});

test('PUT pauses and resumes, and the same again changes nothing', async () => {
  const { create, call, world } = await scheduledWorld();
  const { id } = await create();
  const put = (enabled: boolean) =>
    call('PUT /tasks/scheduled/{id}', { params: { id }, body: { enabled } });
  world.now = '2026-01-01T00:30:00.000Z' as typeof world.now;
  const paused = await put(false);
  assert.equal([paused.enabled, paused.next_run_at, paused.updated_at], [false, null, world.now]);
  world.now = '2026-01-01T00:40:00.000Z' as typeof world.now;
  assert.equal(await put(false), paused);
  const resumed = await put(true);
  assert.equal([resumed.enabled, resumed.next_run_at], [true, '2026-01-01T01:15:00.000Z']);
});

test('an unknown task is 404, an archived one is read and neither changed nor run', async () => {
  const { create, call } = await scheduledWorld();
  const { id } = await create();
  const of = { params: { id } };
  await call('DELETE /tasks/scheduled/{id}', of);
  await call('DELETE /tasks/scheduled/{id}', of);
  const shown = await call('GET /tasks/scheduled/{id}', of);
  assert.equal([shown.status, shown.enabled], ['archived', false]);
  const { code, details } = await rejection(
    call('PUT /tasks/scheduled/{id}', { ...of, body: { enabled: false } }),
  );
  assert.equal([code, details?.reason], ['invalid_operation', 'archived']);
  assert.is(
    (await rejection(call('POST /tasks/scheduled/{id}/run', of))).code,
    'invalid_operation',
  );
  const nobody = { params: { id: 'schtask_none' }, body: { enabled: true } };
  assert.is((await rejection(call('PUT /tasks/scheduled/{id}', nobody))).code, 'not_found');
  assert.is((await call('GET /tasks/scheduled')).pagination.total, 0);
});

test('a list is filtered by every parameter of the contract', async () => {
  const { create, call, connectionId } = await scheduledWorld();
  const daily = await create({ interval: 'daily', entity_type: 'invoice' });
  await create({ enabled: false });
  const total = async (query: object) =>
    (await call('GET /tasks/scheduled', { query })).pagination.total;
  assert.is(await total({ connection_id: connectionId }), 2);
  assert.is(await total({ connection_id: 'conn_other' }), 0);
  assert.is(await total({ entity_type: 'invoice' }), 1);
  assert.is(await total({ interval: 'daily' }), 1);
  assert.is(await total({ enabled: 'false' }), 1);
  const { items } = await call('GET /tasks/scheduled', { query: { enabled: 'true' } });
  assert.equal(items, [daily]);
});

const valid = {
  connection_id: 'conn_1',
  entity_type: 'events',
  interval: 'daily',
  job_config: someJob,
};
const withJob = (job: object) => ({ ...valid, job_config: { ...someJob, ...job } });

const refused: readonly [string, object, string][] = [
  ['no connection', { ...valid, connection_id: undefined }, '/connection_id'],
  ['an unknown type', { ...valid, entity_type: 'plans' }, '/entity_type'],
  ['an interval of the contract that is for tests', { ...valid, interval: 'custom' }, '/interval'],
  ['a zone that is none', { ...valid, timezone: '+01:00' }, '/timezone'],
  ['no configuration', { ...valid, job_config: undefined }, '/job_config'],
  ['no bucket', { ...valid, job_config: { region: 'eu' } }, '/job_config/bucket'],
  ['a bucket that leads elsewhere', withJob({ bucket: '../other' }), '/job_config/bucket'],
  ['a bucket with two dots', withJob({ bucket: 'a..b' }), '/job_config/bucket'],
  ['a prefix that leads elsewhere', withJob({ key_prefix: 'a/../../b' }), '/job_config/key_prefix'],
  ['a prefix with a control character', withJob({ key_prefix: 'a\nb' }), '/job_config/key_prefix'],
  ['an unknown format', withJob({ format: 'xlsx' }), '/job_config/format'],
  [
    'a compressed Parquet file',
    withJob({ format: 'parquet', compression: 'gzip' }),
    '/job_config/compression',
  ],
  [
    'a column of metadata without a key',
    withJob({ export_metadata_fields: [{ entity_type: 'customer' }] }),
    '/job_config/export_metadata_fields/0/field_key',
  ],
];

for (const [what, body, pointer] of refused) {
  test(`${what} is refused by name`, () =>
    assert.equal(pointersOf(createScheduledTaskSchema, body), [pointer]));
}

const notEnabled = [undefined, null, 'yes', 'true', '', 0, 1, [], {}];
for (const body of notEnabled.map((enabled) => ({ enabled }))) {
  test(`an update to ${JSON.stringify(body)} is refused by name`, () =>
    assert.equal(pointersOf(updateScheduledTaskSchema, body), ['/enabled']));
}

const withFields = (...fields: readonly object[]) => ({
  entity_type: 'credit_usage',
  job_config: {
    ...someJob,
    export_metadata_fields: fields.map((field) => ({ entity_type: 'customer', ...field })),
  },
});

const unfit: readonly [string, object, string | undefined][] = [
  ['a connection that is not there', { connection_id: 'conn_none' }, undefined],
  ['S3 without a region', { job_config: { bucket: 'warehouse' } }, '/job_config/region'],
  [
    'an endpoint without https',
    { job_config: { ...someJob, endpoint_url: 'http://storage.example.com' } },
    '/job_config/endpoint_url',
  ],
  [
    'an endpoint in a private network',
    { job_config: { ...someJob, endpoint_url: 'https://10.0.0.1' } },
    '/job_config/endpoint_url',
  ],
  [
    'metadata of a type that has none',
    {
      job_config: {
        ...someJob,
        export_metadata_fields: [{ entity_type: 'customer', field_key: 'tier' }],
      },
    },
    '/job_config/export_metadata_fields',
  ],
  [
    'a column of metadata with the name of another column',
    withFields({ field_key: 'tier' }, { field_key: 'name' }),
    '/job_config/export_metadata_fields/1/column_name',
  ],
  [
    'two columns of metadata with one name',
    withFields({ field_key: 'tier' }, { field_key: 'level', column_name: 'tier' }),
    '/job_config/export_metadata_fields/1/column_name',
  ],
];

for (const [what, body, pointer] of unfit) {
  test(`${what} is refused, and nothing is created`, async () => {
    const { create, call } = await scheduledWorld();
    const problem = await rejection(create(body));
    assert.is(problem.errors?.[0]?.pointer, pointer);
    assert.is(problem.code, pointer ? 'validation_error' : 'not_found');
    assert.is((await call('GET /tasks/scheduled')).pagination.total, 0);
  });
}

test('a connection stays while a task uses it', async () => {
  const { create, call, connectionId } = await scheduledWorld();
  const { id } = await create();
  const remove = () => call('DELETE /connections/{id}', { params: { id: connectionId } });
  assert.is((await rejection(remove())).details?.reason, 'in_use');
  await call('DELETE /tasks/scheduled/{id}', { params: { id } });
  await remove();
});

test.run();
