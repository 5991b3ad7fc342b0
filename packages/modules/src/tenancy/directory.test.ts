import {
  type Decision,
  type Instant,
  instantOf,
  type KeyId,
  sha256,
  type UserId,
} from '@counterfoil/kernel';
import { stampAt } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createApiKey, type KeyOwner } from './api-key.ts';
import { createDirectory, type DirectoryEvent } from './directory.ts';
import { fingerprintOf } from './key-material.ts';
import type { Role } from './roles.ts';
import { createUser, type Granter } from './user.ts';

const test = suite('directory of tenants and keys');

const admin: Granter = { userId: 'user_admin' as UserId, roles: ['super_admin'] };
const userId = 'user_ada' as UserId;
const keyId = 'secret_01' as KeyId;
const key = 'sk_the-key-of-ada';
const now = stampAt(100).occurred_at;

/** The events of a decision that does not look at the state, as nth events of a record. */
function eventsOf(
  aggregate_id: string,
  revision: number,
  decision: Decision<null, { readonly type: string; readonly data: unknown }>,
): DirectoryEvent[] {
  const stamp = stampAt(revision);
  return decision(null, stamp.occurred_at).map(({ type, data }, index) => ({
    type,
    data,
    stamp,
    aggregate_id,
    revision: revision + index,
  }));
}

const userCreated = (...roles: Role[]) =>
  eventsOf(userId, 0, createUser(userId, { type: 'user', email: 'ada@example.com', roles }, admin));
const rolesChanged = (revision: number, ...roles: Role[]): DirectoryEvent => ({
  type: 'UserRolesChanged',
  data: { roles },
  stamp: stampAt(revision),
  aggregate_id: userId,
  revision,
});
const event = (type: string, aggregate_id: string, revision = 1): DirectoryEvent => ({
  type,
  data: {},
  stamp: stampAt(revision),
  aggregate_id,
  revision,
});
const userDeleted = event('UserDeleted', userId);
const keyRevoked = event('ApiKeyRevoked', keyId);

function keyCreated(roles: readonly Role[], expires_at: Instant | null = null): DirectoryEvent[] {
  const owner: KeyOwner = {
    user_id: userId,
    user_type: 'user',
    service_account_name: null,
    roles,
  };
  const created = createApiKey({ id: keyId, name: 'CI', ...fingerprintOf(key), owner, expires_at });
  return eventsOf(keyId, 0, created);
}

const find = (events: readonly DirectoryEvent[], presented = key, at = now) => {
  const directory = createDirectory();
  for (const applied of events) directory.apply(applied);
  return directory.find(sha256(presented), at);
};

test('finds who presents a key', () => {
  const principal = find([...userCreated('all_reader'), ...keyCreated(['all_reader'])]);
  assert.is(principal?.tenantId, 'tenant_01');
  assert.is(principal?.environmentId, 'env_01');
  assert.is(principal?.userId, userId);
  assert.is(principal?.keyId, keyId);
  assert.equal(principal?.roles, ['all_reader']);
  assert.is(principal?.allows('wallet:read'), true);
  assert.is(principal?.allows('wallet:write'), false);
});

test('does not find a key that is unknown', () => {
  const events = [...userCreated('all_reader'), ...keyCreated(['all_reader'])];
  assert.is(find(events, `${key}x`), null);
  assert.is(find(events, ''), null);
  assert.is(find([]), null);
});

test('does not find a key that is revoked', () => {
  const events = [...userCreated('all_reader'), ...keyCreated(['all_reader'])];
  assert.is(find([...events, keyRevoked]), null);
});

test('finds a key until the instant at which it expires', () => {
  const events = [...userCreated('all_reader'), ...keyCreated(['all_reader'], now)];
  assert.ok(find(events, key, instantOf(Date.parse(now) - 1)));
  assert.is(find(events, key, now), null);
});

test('does not find the key of a user who is gone or was never there', () => {
  assert.is(find(keyCreated(['all_reader'])), null);
  const events = [...userCreated('all_reader'), ...keyCreated(['all_reader'])];
  assert.is(find([...events, userDeleted]), null);
});

test('a right taken from the user is gone from its key, a right given to it never reaches the key', () => {
  const events = [...userCreated('all_writer'), ...keyCreated(['all_writer'])];
  assert.equal(find([...events, rolesChanged(1, 'all_reader')])?.roles, ['all_reader']);
  assert.equal(find([...events, rolesChanged(1)])?.roles, []);
  assert.equal(find([...events, rolesChanged(1, 'super_admin')])?.roles, ['all_writer']);
});

test('events that come a second time change nothing', () => {
  const events = [...userCreated('all_reader'), ...keyCreated(['all_reader'])];
  assert.is(find([...events, keyRevoked, ...keyCreated(['all_reader'])]), null);
  assert.is(find([...events, userDeleted, ...userCreated('all_reader')]), null);
});

test('events of other aggregates and of the engine are passed over', () => {
  const events = [...userCreated('all_reader'), ...keyCreated(['all_reader'])];
  assert.ok(find([...events, event('ClaimRevoked', keyId), event('WalletCreated', 'wallet_01')]));
});

test('a user of another tenant with the same id is another user', () => {
  const foreign = userCreated('all_reader').map((created) => ({
    ...created,
    stamp: { ...created.stamp, tenant_id: 'tenant_02' as typeof created.stamp.tenant_id },
  }));
  assert.is(find([...foreign, ...keyCreated(['all_reader'])]), null);
});

test.run();
