import { sha256 } from '@counterfoil/kernel';
import { callRoute, memoryWorld, rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { apiKey } from './api-key.ts';
import { createDirectory } from './directory.ts';
import { environment } from './environment.ts';
import { readKeyMaterial } from './key-material.ts';
import { operatorPrincipal, operatorRoutes } from './operator.ts';
import { tenant } from './tenant.ts';
import { follow } from './test-directory.ts';
import { user } from './user.ts';

const test = suite('operator');

function installation() {
  const world = memoryWorld([tenant, environment, user, apiKey]);
  const directory = createDirectory();
  const keyMaterial = readKeyMaterial('42'.repeat(32));
  const routes = operatorRoutes({ keyMaterial, directory });
  const catchUp = () => follow(directory, world.store);
  const request = (key?: string) =>
    world.request(
      operatorPrincipal('the-key'),
      key === undefined ? undefined : { key, operation: 'POST /tenants', fields: {} },
    );
  /** A tenant with an environment, an admin and a key of theirs. */
  const furnished = async () => {
    const named = (name: string) => ({ body: { name } });
    const { id } = await callRoute(routes['POST /tenants'], request(), named('Acme'));
    const made = await callRoute(routes['POST /tenants/{id}/environments'], request(), {
      params: { id },
      body: { name: 'Production', type: 'production' },
    });
    const owner = await callRoute(routes['POST /tenants/{id}/users'], request(), {
      params: { id },
      body: { type: 'user', email: 'ada@example.com', roles: ['super_admin'] },
    });
    const place = { id, environment_id: made.id };
    const issued = await callRoute(
      routes['POST /tenants/{id}/environments/{environment_id}/keys'],
      request(),
      { params: place, body: { name: 'First', user_id: owner.id } },
    );
    return { id, place, owner, issued };
  };
  return { world, directory, routes, request, furnished, catchUp };
}

test('a tenant, an environment, a user and a key make a caller', async () => {
  const { world, directory, furnished, catchUp } = installation();
  const { id, place, owner, issued } = await furnished();
  catchUp();
  const principal = directory.find(sha256(issued.api_key), world.now);
  assert.equal(
    [principal?.tenantId, principal?.environmentId, principal?.userId, principal?.roles],
    [id, place.environment_id, owner.id, ['super_admin']],
  );
});

test('everything is listed, each tenant for itself', async () => {
  const { routes, request, furnished, catchUp } = installation();
  const one = await furnished();
  const two = await furnished();
  catchUp();
  const tenants = await callRoute(routes['GET /tenants'], request(), { query: { limit: '1' } });
  assert.equal([tenants.items.length, tenants.pagination.total], [1, 2]);
  const { environments } = await callRoute(routes['GET /tenants/{id}/environments'], request(), {
    params: { id: one.id },
  });
  assert.equal(
    environments.map(({ id }) => id),
    [one.place.environment_id],
  );
  const users = await callRoute(routes['GET /tenants/{id}/users'], request(), {
    params: { id: two.id },
  });
  assert.equal(
    users.items.map(({ id, tenant: { id: tenantId } }) => [id, tenantId]),
    [[two.owner.id, two.id]],
  );
  const keys = await callRoute(
    routes['GET /tenants/{id}/environments/{environment_id}/keys'],
    request(),
    { params: two.place },
  );
  assert.equal(
    keys.items.map(({ id }) => id),
    [two.issued.secret.id],
  );
});

test('a revoked key is no caller any more', async () => {
  const { world, directory, routes, request, furnished, catchUp } = installation();
  const { place, issued } = await furnished();
  await callRoute(
    routes['DELETE /tenants/{id}/environments/{environment_id}/keys/{key_id}'],
    request(),
    { params: { ...place, key_id: issued.secret.id } },
  );
  catchUp();
  assert.is(directory.find(sha256(issued.api_key), world.now), null);
});

test('what does not exist, or is another tenant’s, is not found', async () => {
  const { routes, request, furnished } = installation();
  const one = await furnished();
  const two = await furnished();
  const nobody = 'tenant_01KA0000000000000000000000';
  const get = callRoute(routes['GET /tenants/{id}'], request(), { params: { id: nobody } });
  assert.is((await rejection(get)).code, 'not_found');
  const keyIn = (params: object, user_id: string) =>
    callRoute(routes['POST /tenants/{id}/environments/{environment_id}/keys'], request(), {
      params,
      body: { name: 'Key', user_id },
    });
  const mixed = { id: one.id, environment_id: two.place.environment_id };
  assert.is((await rejection(keyIn(mixed, one.owner.id))).details?.field, 'environment_id');
  assert.is((await rejection(keyIn(one.place, two.owner.id))).details?.field, 'user_id');
  assert.is((await rejection(keyIn({ ...one.place, id: 'a-b.c' }, 'x'))).code, 'not_found');
});

test('a repetition with the same idempotency key makes no second tenant', async () => {
  const { routes, request } = installation();
  const create = () => callRoute(routes['POST /tenants'], request('k1'), { body: { name: 'A' } });
  assert.is((await create()).id, (await create()).id);
});

test('two installations make different tenants, also under the same idempotency key', () => {
  const [one, two] = [operatorPrincipal('one'), operatorPrincipal('two')];
  assert.is.not(one.tenantId, two.tenantId);
});

test.run();
