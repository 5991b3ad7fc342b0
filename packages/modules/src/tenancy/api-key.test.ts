import { type Instant, instantOf, type KeyId, type UserId } from '@counterfoil/kernel';
import { folded, given, problemOf, stampAt } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type ApiKeyEvent,
  apiKey,
  apiKeyView,
  createApiKey,
  keyOwner,
  type NewApiKey,
  revokeApiKey,
} from './api-key.ts';
import type { Role } from './roles.ts';
import { apiKeySchema } from './schema.ts';
import type { UserRecord } from './user.ts';

const test = suite('api key');

const id = 'secret_01' as KeyId;
const owner = 'user_ada' as UserId;

const newKey: NewApiKey = {
  id,
  name: 'CI',
  hash: 'a'.repeat(64),
  display_id: 'sk_ab***yz',
  owner: { user_id: owner, user_type: 'user', service_account_name: null, roles: ['all_writer'] },
  expires_at: null,
};
const created: ApiKeyEvent = {
  type: 'ApiKeyCreated',
  data: {
    id,
    name: 'CI',
    type: 'private_key',
    hash: 'a'.repeat(64),
    display_id: 'sk_ab***yz',
    user_id: owner,
    user_type: 'user',
    service_account_name: null,
    roles: ['all_writer'],
    expires_at: null,
  },
};
const revoked: ApiKeyEvent = { type: 'ApiKeyRevoked', data: {} };

test('is created with its hash, never with itself', () => {
  given(apiKey, []).when(createApiKey(newKey)).then([created]);
});

test('a key that has expired already is not created', () => {
  const { occurred_at: now } = stampAt(0);
  const later: Instant = instantOf(Date.parse(now) + 1);
  given(apiKey, [])
    .when(createApiKey({ ...newKey, expires_at: now }))
    .thenProblem('validation_error', '/expires_at');
  given(apiKey, [])
    .when(createApiKey({ ...newKey, expires_at: later }))
    .thenState((state) => assert.is(state?.expires_at, later));
});

test('is revoked by its user or by a super_admin, once', () => {
  const other = 'user_eve' as UserId;
  given(apiKey, [created])
    .when(revokeApiKey(id, { userId: owner, roles: ['all_writer'] }))
    .then([revoked]);
  given(apiKey, [created])
    .when(revokeApiKey(id, { userId: other, roles: ['super_admin'] }))
    .then([revoked]);
  given(apiKey, [created])
    .when(revokeApiKey(id, { userId: other, roles: ['all_writer'] }))
    .thenProblem('permission_denied');
  given(apiKey, [created, revoked])
    .when(revokeApiKey(id, { userId: owner, roles: [] }))
    .thenProblem('not_found');
});

test('the view is masked', () => {
  const view = apiKeyView(folded(apiKey, [created]));
  assert.not.ok('hash' in view);
  assert.is(view.display_id, 'sk_ab***yz');
  assert.ok(apiKeySchema.safeParse(view).success);
  assert.is(apiKeyView(folded(apiKey, [created, revoked])).status, 'deleted');
});

const userOf = (type: UserRecord['type'], roles: readonly Role[], name: string): UserRecord => ({
  id: `user_${name}` as UserId,
  status: 'published',
  type,
  email: null,
  name,
  roles,
  metadata: {},
  tenant_id: 'tenant_01',
  created_at: stampAt(0).occurred_at,
  created_by: 'system',
  updated_at: stampAt(0).occurred_at,
  updated_by: 'system',
});
const person = userOf('user', ['super_admin'], 'ada');
const robot = userOf('service_account', ['event_ingestor'], 'robot');

test('a key made for oneself does what the call may do, not what the user may', () => {
  assert.equal(keyOwner(person, ['all_reader'], null), {
    user_id: person.id,
    user_type: 'user',
    service_account_name: null,
    roles: ['all_reader'],
  });
});

test('a key for a service account has its roles', () => {
  assert.equal(keyOwner(person, ['super_admin'], robot), {
    user_id: robot.id,
    user_type: 'service_account',
    service_account_name: 'robot',
    roles: ['event_ingestor'],
  });
});

test('only a person who is super_admin makes a key for a service account', () => {
  const codeOf = (decide: () => unknown) => problemOf(decide).code;
  assert.is(
    codeOf(() => keyOwner(person, ['all_writer'], robot)),
    'permission_denied',
  );
  assert.is(
    codeOf(() => keyOwner(robot, ['super_admin'], robot)),
    'permission_denied',
  );
  assert.is(
    codeOf(() => keyOwner(robot, ['super_admin'], null)),
    'permission_denied',
  );
});

test('nobody makes a key for another person', () => {
  const eve = userOf('user', ['all_reader'], 'eve');
  const problem = problemOf(() => keyOwner(person, ['super_admin'], eve));
  assert.is(problem.errors?.[0]?.pointer, '/service_account_id');
});

test.run();
