import type { Principal } from '@counterfoil/engine/define';
import type { KeyId, UserId } from '@counterfoil/kernel';
import { callRoute, memoryWorld, rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { defaultQuotas } from '../quotas.ts';
import { apiKey } from './api-key.ts';
import { createDirectory } from './directory.ts';
import { environment } from './environment.ts';
import { allows, type Role } from './roles.ts';
import { tenancyRoutes } from './routes.ts';
import { tenant } from './tenant.ts';
import { first, follow, material } from './test-directory.ts';
import { user } from './user.ts';

const test = suite('environments of a tenant');

/** A tenant with its owner, a directory that follows the log when it is told to, and the routes. */
async function acme() {
  const world = memoryWorld([tenant, environment, user, apiKey]);
  const directory = createDirectory();
  const routes = tenancyRoutes(material, directory);
  for (const create of first.creations) await create(world.request(as('super_admin')));
  const owner = world.store.log.find(({ type }) => type === 'UserCreated')?.data as { id: UserId };
  const context = (...roles: Role[]) => world.request({ ...as(...roles), userId: owner.id });
  const admin = () => context('super_admin');
  const catchUp = () => follow(directory, world.store);
  return { world, directory, routes, context, admin, catchUp };
}

const as = (...roles: Role[]): Principal => ({
  tenantId: first.tenantId,
  environmentId: first.environmentId,
  userId: 'user_01' as UserId,
  keyId: 'secret_01' as KeyId,
  roles,
  allows: (permission) => allows(roles, permission),
});

const sandbox = { name: 'Sandbox', type: 'development' } as const;

test('an admin creates an environment, which is listed, read, renamed and given a time zone', async () => {
  const { routes, admin } = await acme();
  const made = await callRoute(routes['POST /environments'], admin(), { body: sandbox });
  assert.equal([made.name, made.type, made.tenant_id], ['Sandbox', 'development', first.tenantId]);
  const listed = await callRoute(routes['GET /environments'], admin());
  assert.equal(Object.keys(listed).sort(), ['environments', 'limit', 'offset', 'total']);
  assert.equal(
    listed.environments.map(({ name }) => name),
    ['Sandbox', 'Production'],
  );
  const params = { id: made.id };
  const body = { name: 'Trial', timezone: 'Europe/Berlin' };
  await callRoute(routes['PUT /environments/{id}'], admin(), { params, body });
  const read = await callRoute(routes['GET /environments/{id}'], admin(), { params });
  assert.equal([read.name, read.timezone], ['Trial', 'Europe/Berlin']);
});

test('nobody but an admin creates or changes one', async () => {
  const { routes, context } = await acme();
  const body = { name: 'Mine' };
  const creating = callRoute(routes['POST /environments'], context('all_writer'), {
    body: sandbox,
  });
  assert.is((await rejection(creating)).code, 'permission_denied');
  const params = { id: first.environmentId };
  const changing = callRoute(routes['PUT /environments/{id}'], context('all_writer'), {
    params,
    body,
  });
  assert.is((await rejection(changing)).code, 'permission_denied');
});

test('a time zone is an IANA name', async () => {
  const { routes } = await acme();
  const schema = routes['POST /environments'].body;
  const accepts = (timezone: string) => schema?.safeParse({ ...sandbox, timezone }).success;
  for (const zone of ['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires', '']) {
    assert.ok(accepts(zone), zone);
  }
  for (const zone of ['Mars/Olympus', '+02:00', '../etc', 'Europe/Berlin ']) {
    assert.not.ok(accepts(zone), zone);
  }
});

test('an admin makes a key of another environment, and it acts there', async () => {
  const { routes, admin, directory, world, catchUp } = await acme();
  const { id } = await callRoute(routes['POST /environments'], admin(), { body: sandbox });
  const body = { name: 'CI', type: 'private_key', environment_id: id };
  const { secret } = await callRoute(routes['POST /secrets/api/keys'], admin(), { body });
  assert.is(secret.environment_id, id);
  catchUp();
  assert.is(directory.count('api_key', id), 1);
  assert.is(directory.count('api_key', first.environmentId), 1);
  const stored = world.store.log.findLast(({ type }) => type === 'ApiKeyCreated');
  const hash = String((stored?.data as { hash?: string } | undefined)?.hash);
  assert.is(directory.find(hash, world.now)?.environmentId, id);
});

test('a key of another environment is for admins, and the environment has to be of the tenant', async () => {
  const { routes, admin, context } = await acme();
  const { id } = await callRoute(routes['POST /environments'], admin(), { body: sandbox });
  const make = (environment_id: string, ...roles: Role[]) =>
    callRoute(routes['POST /secrets/api/keys'], context(...roles), {
      body: { name: 'CI', type: 'private_key', environment_id },
    });
  assert.is((await rejection(make(id, 'all_writer'))).code, 'permission_denied');
  const problem = await rejection(make('env_01KA0000000000000000000000', 'super_admin'));
  assert.equal([problem.code, problem.details?.field], ['not_found', 'environment_id']);
  assert.is((await make(first.environmentId, 'all_writer')).secret.roles[0], 'all_writer');
});

test('a tenant has no more environments than its limit, and is told so', async () => {
  const { routes, admin, catchUp } = await acme();
  const create = () => callRoute(routes['POST /environments'], admin(), { body: sandbox });
  for (let made = 1; made < defaultQuotas.environments; made += 1) await create();
  catchUp();
  const problem = await rejection(create());
  assert.is(problem.code, 'invalid_operation');
  assert.is(problem.details?.reason, 'limit_reached');
});

test('what is deleted or revoked does not count against a limit', async () => {
  const { routes, admin, directory, catchUp } = await acme();
  const body = { type: 'service_account', name: 'robot', roles: ['event_reader'] };
  const { id } = await callRoute(routes['POST /users'], admin(), { body });
  const key = { name: 'CI', type: 'private_key' };
  const { secret } = await callRoute(routes['POST /secrets/api/keys'], admin(), { body: key });
  catchUp();
  const counts = () => [
    directory.count('user', first.tenantId),
    directory.count('api_key', first.environmentId),
  ];
  assert.equal(counts(), [2, 2]);
  await callRoute(routes['DELETE /users/{id}'], admin(), { params: { id } });
  await callRoute(routes['DELETE /secrets/api/keys/{id}'], admin(), { params: { id: secret.id } });
  catchUp();
  assert.equal(counts(), [1, 1]);
});

test('a user changes their own name and metadata, and a service account is renamed by others', async () => {
  const { routes, admin } = await acme();
  const me = { name: 'Ada L.', metadata: { desk: '4' } };
  const changed = await callRoute(routes['PUT /users/me'], admin(), { body: me });
  assert.equal([changed.name, changed.metadata], ['Ada L.', { desk: '4' }]);
  const robot = { type: 'service_account', name: 'robot', roles: ['event_reader'] };
  const { id } = await callRoute(routes['POST /users'], admin(), { body: robot });
  const renaming = { params: { id }, body: { name: 'machine' } };
  const renamed = await callRoute(routes['PUT /users/{id}'], admin(), renaming);
  assert.equal([renamed.name, renamed.roles], ['machine', ['event_reader']]);
});

test('roles are shown with their rights, by who may hold them', async () => {
  const { routes, admin } = await acme();
  const list = async (query: object) =>
    (await callRoute(routes['GET /rbac/roles'], admin(), { query })).roles;
  assert.is((await list({})).length, 5);
  assert.equal(
    (await list({ user_type: 'service_account' })).map(({ id }) => id),
    ['super_admin', 'event_ingestor', 'event_reader'],
  );
  const get = (id: string) =>
    callRoute(routes['GET /rbac/roles/{id}'], admin(), { params: { id } });
  assert.equal((await get('all_writer')).permissions, { '*': ['read', 'write'] });
  assert.is((await rejection(get('emperor'))).code, 'not_found');
});

test.run();
