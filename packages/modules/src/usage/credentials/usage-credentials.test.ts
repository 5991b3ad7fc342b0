import type { GatewayAccess } from '@counterfoil/engine/define';
import type { Instant, KeyId, UserId } from '@counterfoil/kernel';
import {
  callRoute,
  given,
  memoryWorld,
  rejection,
  stampAt,
  testPrincipal,
} from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { usageCredentialsRoutes } from './routes.ts';
import {
  issueUsageCredentials,
  revokeUsageCredentials,
  type UsageCredentialsEvent,
  type UsageCredentialsId,
  usageCredentials,
} from './usage-credentials.ts';

const test = suite('usage credentials');

const data = {
  id: 'ucred_1' as UsageCredentialsId,
  name: 'models',
  key_id: 'secret_01' as KeyId,
  user_id: 'user_01' as UserId,
  expires_at: null as Instant | null,
};
const issued: UsageCredentialsEvent = { type: 'UsageCredentialsIssued', data };
const revoked: UsageCredentialsEvent = { type: 'UsageCredentialsRevoked', data: {} };

test('are issued once, and not when they would have expired already', () => {
  given(usageCredentials, []).when(issueUsageCredentials(data)).then([issued]);
  const { occurred_at: now } = stampAt(0);
  given(usageCredentials, [])
    .when(issueUsageCredentials({ ...data, expires_at: now }))
    .thenProblem('validation_error', '/expires_at');
});

test('are revoked by their user or a super_admin, for good', () => {
  const own = { userId: data.user_id, isAdmin: false };
  const other = { userId: 'user_02' as UserId, isAdmin: false };
  const revoke = (by: typeof own) => revokeUsageCredentials(data.id, by);
  given(usageCredentials, [issued]).when(revoke(own)).then([revoked]);
  given(usageCredentials, [issued])
    .when(revoke({ ...other, isAdmin: true }))
    .then([revoked]);
  given(usageCredentials, [issued]).when(revoke(other)).thenProblem('permission_denied');
  given(usageCredentials, [issued, revoked]).when(revoke(own)).thenProblem('not_found');
  given(usageCredentials, []).when(revoke(own)).thenProblem('not_found');
});

/** The routes with a gateway that remembers what it was told last of each sender; `null`: removed. */
function world({ withoutGateway = false } = {}) {
  const told = new Map<string, GatewayAccess | null>();
  const gateway = {
    urls: ['nats://gateway:4222'],
    liveSubject: () => '',
    credentialsOf: ({ name }: GatewayAccess) => `secret of ${name}`,
    keepAccess: async (access: GatewayAccess) => void told.set(access.name, access),
    removeAccess: async ({ name }: GatewayAccess) => void told.set(name, null),
    reconcile: async () => undefined,
  };
  const memory = memoryWorld([usageCredentials]);
  const routes = usageCredentialsRoutes(withoutGateway ? null : gateway);
  const call = (key: keyof typeof routes, input: object, principal = testPrincipal()) =>
    // biome-ignore lint/suspicious/noExplicitAny: one caller for all routes of this table.
    callRoute(routes[key], memory.request(principal), input) as Promise<any>;
  return { told, call };
}

test('are told to the gateway for the key that asks, and taken from it again', async () => {
  const { told, call } = world();
  const made = await call('POST /usage/credentials', { body: { name: 'models' } });
  assert.is(made.credentials, `secret of ${made.id}`);
  assert.is(made.subject, 'usage.v1.tenant_01.env_01');
  const access = told.get(made.id);
  assert.equal(access?.kind === 'sender' && [access.intake, access.keyId], ['usage', 'secret_01']);
  assert.is(access?.credentials?.issuedAt, made.issued_at);
  await call('DELETE /usage/credentials/{id}', { params: { id: made.id } });
  assert.is(told.get(made.id), null);
});

test('an environment has a hundred, and one more names the limit', async () => {
  const { call } = world();
  const issue = () => call('POST /usage/credentials', { body: { name: 'x' } });
  const { id } = await issue();
  for (let made = 1; made < 100; made += 1) await issue();
  assert.equal((await rejection(issue())).details, { reason: 'limit_reached', limit: 100 });
  await call('DELETE /usage/credentials/{id}', { params: { id } });
  await issue();
});

test('none are issued without a gateway', async () => {
  const { call } = world({ withoutGateway: true });
  const refused = call('POST /usage/credentials', { body: { name: 'x' } });
  assert.is((await rejection(refused)).code, 'service_unavailable');
});

test.run();
