import type { Principal, RequestContext } from '@counterfoil/engine/define';
import type { KeyId, TenantId, UserId } from '@counterfoil/kernel';
import { callRoute, type Idempotency, memoryWorld, rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { apiKey } from './api-key.ts';
import { createDirectory } from './directory.ts';
import { environment } from './environment.ts';
import { readKeyMaterial } from './key-material.ts';
import { allows, type Role } from './roles.ts';
import { tenancyRoutes } from './routes.ts';
import { tenant } from './tenant.ts';
import { first, material } from './test-directory.ts';
import { user } from './user.ts';

const test = suite('tenancy routes');

/** A tenant with its owner, and everything that can be called in it. */
async function tenancyOf() {
  const world = memoryWorld([tenant, environment, user, apiKey]);
  const routes = tenancyRoutes(material, createDirectory());
  const as = (userId: string, ...roles: Role[]): Principal => ({
    tenantId: first.tenantId,
    environmentId: first.environmentId,
    userId: userId as UserId,
    keyId: `secret_of_${userId}` as KeyId,
    roles,
    allows: (permission) => allows(roles, permission),
  });
  for (const create of first.creations) await create(world.request(as('user_00')));
  const ownerId = world.store.log.find(({ type }) => type === 'UserCreated')?.data as {
    id: string;
  };
  const owner = as(ownerId.id, 'super_admin');
  const context = (principal: Principal = owner, idempotency?: Idempotency) =>
    world.request(principal, idempotency);
  return {
    world,
    owner,
    as,
    context,
    me: (within: RequestContext = context()) => callRoute(routes['GET /users/me'], within),
    createUser: (body: object, within: RequestContext = context()) =>
      callRoute(routes['POST /users'], within, { body }),
    searchUsers: (body: object) => callRoute(routes['POST /users/search'], context(), { body }),
    createKey: (body: object, within: RequestContext = context()) =>
      callRoute(routes['POST /secrets/api/keys'], within, { body }),
    listKeys: (within: RequestContext = context(), query: object = {}) =>
      callRoute(routes['GET /secrets/api/keys'], within, { query }),
    revokeKey: (id: string, within: RequestContext = context()) =>
      callRoute(routes['DELETE /secrets/api/keys/{id}'], within, { params: { id } }),
    getTenant: (id: string) =>
      callRoute(routes['GET /tenants/{id}'], context(), { params: { id } }),
    updateTenant: (body: object) => callRoute(routes['PUT /tenants/update'], context(), { body }),
  };
}

const robot = { type: 'service_account', name: 'robot', roles: ['event_ingestor'] };
const person = { type: 'user', email: 'eve@example.com', name: 'Eve', roles: ['all_writer'] };
const key = { name: 'CI', type: 'private_key' };

test('me is the calling user with its tenant and the roles of the call', async () => {
  const { me, as, context, owner } = await tenancyOf();
  const self = await me();
  assert.equal([self.id, self.email, self.type], [owner.userId, 'ada@example.com', 'user']);
  assert.equal([self.tenant.id, self.tenant.name], [first.tenantId, 'Acme']);
  assert.equal(self.roles, ['super_admin']);
  assert.equal((await me(context(as(owner.userId, 'all_reader')))).roles, ['all_reader']);
});

test('me of a service account has an empty e-mail', async () => {
  const { me, createUser, as, context } = await tenancyOf();
  const { id } = await createUser(robot);
  const self = await me(context(as(id, 'event_ingestor')));
  assert.equal([self.email, self.type], ['', 'service_account']);
});

test('an e-mail address belongs to one user of the tenant', async () => {
  const { createUser } = await tenancyOf();
  await createUser(person);
  const again = createUser({ ...person, email: 'EVE@example.com' });
  assert.is((await rejection(again)).code, 'already_exists');
});

test('users are found by type, role and id, each with the tenant', async () => {
  const { createUser, searchUsers } = await tenancyOf();
  const { id } = await createUser(person);
  await createUser(robot);
  const namesOf = async (body: object) =>
    (await searchUsers(body)).items.map(({ name }) => name).sort();
  assert.equal(await namesOf({}), ['Ada', 'Eve', 'robot']);
  assert.equal(await namesOf({ type: 'service_account' }), ['robot']);
  assert.equal(await namesOf({ roles: ['all_writer', 'event_ingestor'] }), ['Eve', 'robot']);
  assert.equal(await namesOf({ user_ids: [id] }), ['Eve']);
  assert.is((await searchUsers({})).items[0]?.tenant.id, first.tenantId);
});

test('a tenant reads and changes itself; any other id is not found', async () => {
  const { getTenant, updateTenant } = await tenancyOf();
  await updateTenant({ billing_details: { email: 'bill@example.com' } });
  assert.is((await getTenant(first.tenantId)).billing_details.email, 'bill@example.com');
  const foreign = 'tenant_01ARZ3NDEKTSV4RRFFQ69G5FAV' as TenantId;
  assert.is((await rejection(getTenant(foreign))).code, 'not_found');
});

test('a key is shown in the answer to its creation and in no other place', async () => {
  const { createKey, listKeys, world } = await tenancyOf();
  const { secret, api_key } = await createKey(key);
  assert.match(api_key, /^sk_[A-Za-z0-9_-]{43}$/);
  assert.is(secret.display_id, `${api_key.slice(0, 5)}***${api_key.slice(-2)}`);
  const kept = JSON.stringify([
    world.store.log.map(({ data, metadata }) => [data, metadata]),
    await listKeys(),
  ]);
  assert.not.ok(kept.includes(api_key.slice(5, -2)));
});

test('two keys are different keys', async () => {
  const { createKey } = await tenancyOf();
  assert.is.not((await createKey(key)).api_key, (await createKey(key)).api_key);
});

const repeated = { key: 'k1', operation: 'POST /secrets/api/keys', fields: key };

test('a repeated creation answers the same body, the key included', async () => {
  const { createKey, context, owner, world } = await tenancyOf();
  const answer = await createKey(key, context(owner, repeated));
  const events = world.store.log.length;
  assert.equal(await createKey(key, context(owner, repeated)), answer);
  assert.is(world.store.log.length, events);
});

test('a repetition by another user does not get to see the key', async () => {
  const { createKey, createUser, context, owner, as } = await tenancyOf();
  await createKey(key, context(owner, repeated));
  const { id } = await createUser(person);
  const stolen = createKey(key, context(as(id, 'all_writer'), repeated));
  assert.is((await rejection(stolen)).code, 'permission_denied');
});

test('a repetition under another server secret cannot show the key and says what to do', async () => {
  const { createKey, context, owner } = await tenancyOf();
  await createKey(key, context(owner, repeated));
  const other = tenancyRoutes(readKeyMaterial('43'.repeat(32)), createDirectory())[
    'POST /secrets/api/keys'
  ];
  const problem = await rejection(callRoute(other, context(owner, repeated), { body: key }));
  assert.is(problem.code, 'invalid_operation');
  assert.match(problem.message, 'Revoke it and create another one');
});

test('a process without the secret makes no key', async () => {
  const { context, world } = await tenancyOf();
  const events = world.store.log.length;
  const route = tenancyRoutes(null, createDirectory())['POST /secrets/api/keys'];
  await callRoute(route, context(), { body: key }).then(
    () => assert.unreachable('a key was made'),
    (error: Error) => assert.is(error.name, 'BrokenInvariant'),
  );
  assert.is(world.store.log.length, events);
});

test('a key of a service account has its roles and its name', async () => {
  const { createKey, createUser } = await tenancyOf();
  const { id } = await createUser(robot);
  const { secret } = await createKey({ ...key, service_account_id: id });
  assert.equal(
    [secret.user_id, secret.user_type, secret.service_account_name, secret.roles],
    [id, 'service_account', 'robot', ['event_ingestor']],
  );
});

test('a service account that does not exist is not found, and the field is named', async () => {
  const { createKey } = await tenancyOf();
  const problem = await rejection(createKey({ ...key, service_account_id: 'user_x' }));
  assert.equal([problem.code, problem.details?.field], ['not_found', 'service_account_id']);
});

test('keys of others are listed and revoked by a super_admin only', async () => {
  const { createKey, createUser, listKeys, revokeKey, as, context } = await tenancyOf();
  const eve = as((await createUser(person)).id, 'all_writer');
  const { secret } = await createKey(key, context(eve));
  const namesOf = async (within: RequestContext, query = {}) =>
    (await listKeys(within, query)).items.map(({ name }) => name).sort();
  assert.equal(await namesOf(context()), ['CI', 'First key']);
  assert.equal(await namesOf(context(eve)), ['CI']);

  const [ownersKey] = (await listKeys()).items.filter(({ name }) => name === 'First key');
  assert.ok(ownersKey);
  const refused = revokeKey(ownersKey.id, context(eve));
  assert.is((await rejection(refused)).code, 'permission_denied');

  await revokeKey(secret.id);
  assert.equal(await namesOf(context()), ['First key']);
  assert.equal(await namesOf(context(), { status: 'deleted' }), ['CI']);
  assert.is((await rejection(revokeKey(secret.id))).code, 'not_found');
});

test.run();
