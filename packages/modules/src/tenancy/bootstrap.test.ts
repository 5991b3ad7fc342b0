import type { Principal } from '@counterfoil/engine/define';
import { type KeyId, sha256, type UserId } from '@counterfoil/kernel';
import { memoryWorld } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { apiKey } from './api-key.ts';
import { firstTenant } from './bootstrap.ts';
import { createDirectory } from './directory.ts';
import { environment } from './environment.ts';
import { tenant } from './tenant.ts';
import { firstNames, follow, material } from './test-directory.ts';
import { user } from './user.ts';

const test = suite('first tenant');

async function run(times: number) {
  const world = memoryWorld([tenant, environment, user, apiKey]);
  const first = firstTenant(firstNames, material);
  const service: Principal = {
    tenantId: first.tenantId,
    environmentId: first.environmentId,
    userId: 'user_00' as UserId,
    keyId: 'secret_00' as KeyId,
    roles: [],
    allows: () => false,
  };
  for (let time = 0; time < times; time += 1) {
    for (const create of first.creations) await create(world.request(service));
  }
  return {
    first,
    store: world.store,
    log: world.store.log,
    context: world.request(service),
    now: world.now,
  };
}

test('makes a tenant, an environment, a person and their key', async () => {
  const { first, log, context } = await run(1);
  const types = log.map(({ type }) => type).filter((type) => !type.startsWith('Claim'));
  for (const type of ['TenantCreated', 'EnvironmentCreated', 'UserCreated', 'ApiKeyCreated']) {
    assert.is(types.filter((written) => written === type).length, 1, type);
  }
  assert.is((await context.load(tenant, first.tenantId))?.name, 'Acme');
  assert.is((await context.load(environment, first.environmentId))?.type, 'production');
});

test('the key it shows is a super_admin key', async () => {
  const { first, store, now } = await run(1);
  const directory = createDirectory();
  follow(directory, store);
  const principal = directory.find(sha256(first.apiKey), now);
  assert.is(principal?.environmentId, first.environmentId);
  assert.equal(principal?.roles, ['super_admin']);
});

test('the key itself is in no event', async () => {
  const { first, log } = await run(1);
  assert.not.ok(JSON.stringify(log.map(({ data }) => data)).includes(first.apiKey.slice(5, -2)));
});

test('running it again changes nothing and shows the same key', async () => {
  const once = await run(1);
  const twice = await run(2);
  assert.is(twice.log.length, once.log.length);
  assert.is(twice.first.apiKey, once.first.apiKey);
});

test('another seed makes another tenant', () => {
  const other = firstTenant({ ...firstNames, seed: 'other' }, material);
  const first = firstTenant(firstNames, material);
  assert.is.not(other.tenantId, first.tenantId);
  assert.is.not(other.apiKey, first.apiKey);
});

test.run();
