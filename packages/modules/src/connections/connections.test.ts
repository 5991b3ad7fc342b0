import { aggregate, type Id } from '@counterfoil/kernel';
import { callRoute, memoryWorld, published, rejection, testPrincipal } from '@counterfoil/testkit';
import { createSealer } from '@counterfoil/webhooks';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { connection, connectionRecords, connectionRoutes, s3CredentialsOf } from './index.ts';

const test = suite('connections');

const sealer = createSealer(Buffer.alloc(32, 7).toString('base64'));
const routes = connectionRoutes({ sealer });
const credentials = { aws_access_key_id: 'AKIA-OF-ACME', aws_secret_access_key: 'hidden-secret' };
const warehouse = {
  name: 'Warehouse',
  provider_type: 's3',
  encrypted_secret_data: { s3: credentials },
};

/** Stands for whatever uses a connection. */
const user = aggregate({
  name: 'connection_user',
  scope: 'environment',
  events: { UserMade: z.object({ connection_id: z.string() }) },
  initial: null as { connection_id: string } | null,
  evolve: (_, { data }) => data,
  refersTo: (state) =>
    state ? [{ category: 'connection', id: state.connection_id, what: 'connection' }] : [],
});

function world() {
  const memory = memoryWorld([connection, user]);
  const request = (key?: string) =>
    memory.request(
      testPrincipal(),
      key === undefined ? undefined : { key, operation: 'POST /connections', fields: {} },
    );
  const load = async (id: string) => {
    const state = await request().load(connection, id);
    if (!state) throw new Error(`there is no connection ${id}`);
    return state;
  };
  return {
    memory,
    request,
    load,
    create: (body: object = warehouse, key?: string) =>
      callRoute(routes['POST /connections'], request(key), { body }),
    update: (id: string, body: object) =>
      callRoute(routes['PUT /connections/{id}'], request(), { params: { id }, body }),
    remove: (id: string) =>
      callRoute(routes['DELETE /connections/{id}'], request(), { params: { id } }),
    get: (id: string) => callRoute(routes['GET /connections/{id}'], request(), { params: { id } }),
    events: () => memory.store.log.map(({ type }) => type),
  };
}

/** Everything that left the service or stands in its log and tables. */
const everything = async ({ memory, get, request }: ReturnType<typeof world>, id: string) =>
  JSON.stringify([
    memory.store.log.map((event) => ({ ...event, position: String(event.position) })),
    await get(id),
    await callRoute(routes['GET /connections'], request(), { query: {} }),
    await published(request(), connectionRecords.publicEvents, connection, id),
  ]);

test('credentials are sealed, shown by nothing, and open for those who connect', async () => {
  const at = world();
  const { id } = await at.create();
  const text = await everything(at, id);
  for (const secret of Object.values(credentials)) assert.not.match(text, secret);
  assert.equal(s3CredentialsOf(await at.load(id), sealer), credentials);
});

test('a sealed text opens for its own connection alone', async () => {
  const at = world();
  const one = await at.load((await at.create()).id);
  const other = await at.load((await at.create()).id);
  assert.throws(() => s3CredentialsOf({ ...one, secret: other.secret }, sealer));
});

test('a repetition of the request answers the first connection and writes nothing', async () => {
  const at = world();
  const first = await at.create(warehouse, 'key');
  assert.equal(await at.create(warehouse, 'key'), first);
  assert.equal(at.events(), ['ConnectionCreated']);
});

test('the same credentials again are no change, others replace them as a whole', async () => {
  const at = world();
  const { id } = await at.create({
    ...warehouse,
    encrypted_secret_data: { s3: { ...credentials, aws_session_token: 'of-a-session' } },
  });
  const withToken = { s3: { ...credentials, aws_session_token: 'of-a-session' } };
  await at.update(id, { encrypted_secret_data: withToken, name: 'Warehouse' });
  assert.equal(at.events(), ['ConnectionCreated']);
  await at.update(id, { encrypted_secret_data: { s3: credentials } });
  assert.equal(s3CredentialsOf(await at.load(id), sealer), credentials);
  await at.update(id, { name: 'Lake', metadata: { team: 'data' } });
  const { name, metadata } = await at.get(id);
  assert.equal([name, metadata], ['Lake', { team: 'data' }]);
  assert.equal(s3CredentialsOf(await at.load(id), sealer), credentials);
});

test('credentials have to fit the kind of storage', async () => {
  const at = world();
  const faults: [object, string][] = [
    [{ name: 'A', provider_type: 's3' }, '/encrypted_secret_data/s3'],
    [{ ...warehouse, provider_type: 'local_folder' }, '/encrypted_secret_data/s3'],
  ];
  for (const [body, pointer] of faults) {
    const { code, errors } = await rejection(at.create(body));
    assert.equal([code, errors?.[0]?.pointer], ['validation_error', pointer]);
  }
  const folder = await at.create({ name: 'Folder', provider_type: 'local_folder' });
  const refused = await rejection(
    at.update(folder.id, { encrypted_secret_data: { s3: credentials } }),
  );
  assert.is(refused.code, 'validation_error');
  const record = await at.load(folder.id);
  assert.throws(() => s3CredentialsOf(record, sealer), /not to S3/);
});

test('a connection in use stays; one that is archived is readable and changes no more', async () => {
  const at = world();
  const { id } = await at.create();
  const other = at.request();
  await other.execute(user, 'user_1', () => [{ type: 'UserMade', data: { connection_id: id } }]);
  assert.is((await rejection(at.remove(id))).code, 'invalid_operation');
  const free = await at.create();
  await at.remove(free.id);
  assert.is((await at.get(free.id)).status, 'archived');
  assert.is((await rejection(at.update(free.id, { name: 'B' }))).code, 'invalid_operation');
  const referred = connectionRecords.referred(at.request(), free.id as Id<'conn'>);
  assert.is((await rejection(referred)).code, 'invalid_operation');
});

test.run();
