import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callRoute, memoryWorld, rejection, testPrincipal } from '@counterfoil/testkit';
import { type S3Server, startS3Server } from '@counterfoil/testkit/storage';
import { createSealer } from '@counterfoil/webhooks';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { connection, connectionRoutes } from '../connections/index.ts';
import { scheduledTask, scheduledTasks } from '../scheduled-tasks/index.ts';
import { environment } from '../tenancy/index.ts';
import { checkRoutes } from './check.ts';
import { exportColumnsOf } from './sources/index.ts';

const test = suite('connections that are tried');

const policy = { allowHttp: true, allowedCidrs: ['127.0.0.0/8'], deniedCidrs: [] };
const sealerOf = (byte: number) => createSealer(Buffer.alloc(32, byte).toString('base64'));

let storage: S3Server;
let root: string;
test.before(async () => {
  storage = await startS3Server();
  root = mkdtempSync(join(tmpdir(), 'counterfoil-checks-'));
});
test.after(async () => {
  await storage?.stop();
  rmSync(root, { recursive: true, force: true });
});

/** The storage of these tests as a place. */
const place = (changes: object = {}) => ({
  ...{ bucket: storage.bucket, region: 'eu-central-1', key_prefix: 'checked' },
  ...{ endpoint_url: storage.url, use_path_style: true, ...changes },
});

/** A world with a connection: to the storage of these tests, or as the body says. */
async function connected(body: object = {}) {
  const sealer = sealerOf(7);
  const world = memoryWorld([connection, scheduledTask, environment]);
  const request = () => world.request(testPrincipal());
  const routes = connectionRoutes({ sealer });
  const { id } = await callRoute(routes['POST /connections'], request(), {
    body: {
      ...{ name: 'Warehouse', provider_type: 's3' },
      encrypted_secret_data: { s3: storage.credentials },
      ...body,
    },
  });
  const check = (given: object = {}, options: object = {}) => {
    const route = checkRoutes({ sealer, policy, folder: root, ...options });
    const input = { params: { id }, body: given };
    return callRoute(route['POST /connections/{id}/check'], request(), input);
  };
  return { world, request, routes, id, check };
}

/** The outcome at the one place that was tried. */
const told = ({
  result,
  places,
}: Awaited<ReturnType<Awaited<ReturnType<typeof connected>>['check']>>) => {
  const [only] = places;
  assert.is(places.length, 1);
  return [result, only?.problem ?? null];
};

const keyed = (secret: object) => ({ s3: { ...storage.credentials, ...secret } });

test('everything that an export asks for is tried, and nothing stays there', async () => {
  const { check, world } = await connected();
  const before = world.store.log.length;
  assert.equal(told(await check({ job_config: place() })), ['ok', null]);
  assert.equal([storage.keys(), storage.openUploads()], [[], []]);
  assert.is(world.store.log.length, before);
});

test('the answer says in words what is wrong, and nothing of the credentials', async () => {
  const { check } = await connected();
  const wrongs: [object, RegExp][] = [
    [{ job_config: place({ bucket: 'no-such-bucket' }) }, /there is no such bucket/],
    [
      { job_config: place(), encrypted_secret_data: keyed({ aws_secret_access_key: 'hidden-1' }) },
      /aws_secret_access_key is not that of the aws_access_key_id/,
    ],
    [
      { job_config: place(), encrypted_secret_data: keyed({ aws_access_key_id: 'hidden-2' }) },
      /does not know the aws_access_key_id/,
    ],
  ];
  for (const [body, problem] of wrongs) {
    const answer = await check(body);
    const [result, said] = told(answer);
    assert.is(result, 'failing');
    assert.match(said ?? '', problem);
    assert.not.match(JSON.stringify(answer), /hidden|S3RVER/);
  }
  const faults = [
    ['failing', /The storage answered InternalError \(500\)/],
    ['refused', /cannot be reached: ECONNREFUSED/],
  ] as const;
  for (const [kind, problem] of faults) {
    await storage.break({ kind });
    const [result, said] = told(await check({ job_config: place() }));
    await storage.break(null);
    assert.is(result, 'failing');
    assert.match(said ?? '', problem);
  }
});

test('new credentials are tried before they replace others, and are not kept', async () => {
  const { check, routes, request, id } = await connected({
    encrypted_secret_data: keyed({ aws_secret_access_key: 'of-last-year' }),
  });
  const job_config = place();
  const encrypted_secret_data = keyed({});
  assert.is((await check({ job_config })).result, 'failing');
  assert.is((await check({ job_config, encrypted_secret_data })).result, 'ok');
  assert.is((await check({ job_config })).result, 'failing');
  const body = { encrypted_secret_data };
  await callRoute(routes['PUT /connections/{id}'], request(), { params: { id }, body });
  assert.is((await check({ job_config })).result, 'ok');
});

test('without a place those of the scheduled tasks are tried, each once', async () => {
  const { check, request, id } = await connected();
  assert.equal(await check(), { connection_id: id, result: 'untried', places: [] });
  const create = scheduledTasks({ policy, columnsOf: exportColumnsOf }).routes[
    'POST /tasks/scheduled'
  ];
  assert.ok(create);
  for (const [entity_type, bucket] of [
    ['events', storage.bucket],
    ['invoice', storage.bucket],
    ['invoice', 'elsewhere'],
  ]) {
    const body = {
      connection_id: id,
      entity_type,
      interval: 'daily',
      job_config: place({ bucket }),
    };
    await callRoute(create, request(), { body });
  }
  const { result, places } = await check();
  assert.is(result, 'failing');
  const found = places.map(({ bucket, result: of }) => [bucket, of]);
  assert.equal(found.toSorted(), [
    ['elsewhere', 'failing'],
    [storage.bucket, 'ok'],
  ]);
});

test('a folder is written to; a process without one says so', async () => {
  const folder = { provider_type: 'local_folder', encrypted_secret_data: null };
  const { check, id } = await connected(folder);
  const job_config = { bucket: 'warehouse' };
  assert.equal(told(await check({ job_config })), ['ok', null]);
  assert.equal(readdirSync(join(root, 'tenant_01', 'env_01', 'warehouse')), []);
  const without = await check({ job_config }, { folder: null });
  assert.match(told(without)[1] ?? '', /EXPORT_FOLDER/);
  const file = join(root, 'no-folder');
  writeFileSync(file, '');
  assert.match(
    told(await check({ job_config }, { folder: file }))[1] ?? '',
    /cannot be used: ENOTDIR/,
  );
  assert.ok(id);
});

test('credentials under another secret key are to be sent again; what does not fit is refused by its field', async () => {
  const { check, routes, request, id } = await connected();
  const other = await check({ job_config: place() }, { sealer: sealerOf(8) });
  assert.match(told(other)[1] ?? '', /sealed with another secret key/);
  const refusals: [object, object, string][] = [
    [{ job_config: place({ region: null }) }, {}, '/job_config/region'],
    [{ job_config: place({ endpoint_url: 'http://10.0.0.1' }) }, {}, '/job_config/endpoint_url'],
    [{ encrypted_secret_data: {} }, {}, '/encrypted_secret_data/s3'],
  ];
  for (const [body, options, pointer] of refusals) {
    const { code, errors } = await rejection(check(body, options));
    assert.equal([code, errors?.[0]?.pointer], ['validation_error', pointer]);
  }
  await callRoute(routes['DELETE /connections/{id}'], request(), { params: { id } });
  assert.is((await rejection(check())).details?.reason, 'archived');
});

test.run();
