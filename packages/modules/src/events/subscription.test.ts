import type {
  DurableReader,
  EventBroker,
  Principal,
  ReaderAccess,
} from '@counterfoil/engine/define';
import {
  type EnvironmentId,
  type KeyId,
  Problem,
  type TenantId,
  type UserId,
} from '@counterfoil/kernel';
import { callRoute, memoryWorld, pointersOf, rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { credentialRoutes } from './credential-routes.ts';
import { eventSubscription } from './subscription.ts';
import { subscriptionRoutes } from './subscription-routes.ts';
import { createSubscriptionSchema } from './subscription-schema.ts';

const test = suite('event subscriptions');

const principal: Principal = {
  tenantId: 'tenant_01' as TenantId,
  environmentId: 'env_01' as EnvironmentId,
  userId: 'user_01' as UserId,
  keyId: 'secret_01' as KeyId,
  roles: ['super_admin'],
  allows: () => true,
};

const away = () => Promise.reject(new Problem('service_unavailable', 'away'));

/** A broker that remembers what it was asked for; `isAway`: it cannot be asked. */
function brokerOf({ isAway = false } = {}) {
  const readers = new Map<string, DurableReader>();
  const broker: EventBroker = {
    read: async (_scope, { after }) => {
      if (after === '1') throw new Problem('invalid_operation', 'no longer kept');
      return { events: [], nextPosition: after ?? '0', hasMore: false };
    },
    lastPosition: async () => '41',
    ensureReader: async (reader) => {
      if (isAway) return away();
      readers.set(reader.name, reader);
      return { pending: 0, unconfirmed: 0 };
    },
    readerStatus: async (name) =>
      isAway ? away() : readers.has(name) ? { pending: 2, unconfirmed: 1 } : null,
    removeReader: async (name) => void (isAway ? await away() : readers.delete(name)),
  };
  return { broker, readers };
}

interface GatewayOptions {
  readonly isAway?: boolean;
  readonly withoutGateway?: boolean;
  /** Happens when the gateway is told something for the first time, before it has it. */
  readonly meanwhile?: () => Promise<unknown>;
}

/** A gateway that remembers what it was told last of each reader; `null`: removed. */
function gatewayOf({ isAway = false, withoutGateway = false, meanwhile }: GatewayOptions) {
  if (withoutGateway) return null;
  const told = new Map<string, ReaderAccess | null>();
  let interrupt = meanwhile;
  const tell = async (name: string, access: ReaderAccess | null): Promise<void> => {
    if (isAway) await away();
    const first = interrupt;
    interrupt = undefined;
    await first?.();
    told.set(name, access);
  };
  return {
    told,
    urls: ['nats://gateway:4222'],
    liveSubject: () => 'live.x.>',
    credentialsOf: ({ name, credentials }: ReaderAccess) => `${name} ${credentials?.generation}`,
    keepAccess: (access: ReaderAccess) => tell(access.name, access),
    removeAccess: ({ name }: ReaderAccess) => tell(name, null),
    reconcile: away,
  };
}

function world(options: GatewayOptions = {}) {
  const { broker, readers } = brokerOf(options);
  const memory = memoryWorld([eventSubscription]);
  const gateway = gatewayOf(options);
  const routes = {
    ...subscriptionRoutes({ broker, gateway, maximumSubscriptions: 6 }),
    ...credentialRoutes(gateway),
  };
  const call = (key: keyof typeof routes, input: object) =>
    // biome-ignore lint/suspicious/noExplicitAny: one caller for all routes of this table.
    callRoute(routes[key], memory.request(principal), input) as Promise<any>;
  return { readers, call, gateway };
}

test('a subscription begins where it is told to, by default with what comes next', async () => {
  const { readers, call } = world();
  const starts = [
    [{}, { kind: 'position', after: '41' }],
    [{ from: 'now' }, { kind: 'position', after: '41' }],
    [{ from: 'oldest' }, { kind: 'oldest' }],
    [{ after_position: '7' }, { kind: 'position', after: '7' }],
    [{ start_time: '2026-01-01T00:00:00Z' }, { kind: 'time', at: '2026-01-01T00:00:00.000Z' }],
  ] as const;
  for (const [body, start] of starts) {
    const made = await call('POST /feed/subscriptions', { body: { name: 'x', ...body } });
    const reader = readers.get(made.id);
    assert.equal(reader?.start, start);
    assert.equal(reader?.scope, { tenantId: 'tenant_01', environmentId: 'env_01' });
    assert.is(made.nats.consumer, made.id);
  }
});

test('an environment has as many as its quota says, and one more names the limit', async () => {
  const { call } = world();
  const ids: string[] = [];
  for (let made = 0; made < 6; made += 1)
    ids.push((await call('POST /feed/subscriptions', { body: { name: 'x' } })).id);
  const { code, details } = await rejection(
    call('POST /feed/subscriptions', { body: { name: 'x' } }),
  );
  assert.is(code, 'invalid_operation');
  assert.equal(details, { reason: 'limit_reached', limit: 6 });
  await call('DELETE /feed/subscriptions/{id}', { params: { id: ids[0] } });
  await call('POST /feed/subscriptions', { body: { name: 'x' } });
});

test('a position whose events are gone is refused, and nothing is stored', async () => {
  const { readers, call } = world();
  const gone = call('POST /feed/subscriptions', { body: { name: 'x', after_position: '1' } });
  assert.is((await rejection(gone)).code, 'invalid_operation');
  assert.is(readers.size, 0);
});

test('a replay replaces the reader by one of the next generation', async () => {
  const { readers, call } = world();
  const { id } = await call('POST /feed/subscriptions', { body: { name: 'x' } });
  const again = await call('POST /feed/subscriptions/{id}/replay', {
    params: { id },
    body: { from: 'oldest' },
  });
  assert.is(again.generation, 2);
  assert.equal(readers.get(id)?.generation, 2);
  assert.equal(readers.get(id)?.start, { kind: 'oldest' });
});

test('a broker that is away holds up neither creation nor deletion', async () => {
  const { call } = world({ isAway: true });
  const { id } = await call('POST /feed/subscriptions', {
    body: { name: 'x', from: 'oldest' },
  });
  const shown = await call('GET /feed/subscriptions/{id}', { params: { id } });
  assert.not.ok('delivery' in shown);
  await call('DELETE /feed/subscriptions/{id}', { params: { id } });
  const gone = call('GET /feed/subscriptions/{id}', { params: { id } });
  assert.is((await rejection(gone)).code, 'not_found');
});

test('a deleted one stays deleted, and cannot begin anew', async () => {
  const { readers, call } = world();
  const { id } = await call('POST /feed/subscriptions', { body: { name: 'x' } });
  await call('DELETE /feed/subscriptions/{id}', { params: { id } });
  await call('DELETE /feed/subscriptions/{id}', { params: { id } });
  assert.not.ok(readers.has(id));
  const replay = call('POST /feed/subscriptions/{id}/replay', { params: { id } });
  assert.is((await rejection(replay)).code, 'not_found');
  const unknown = call('DELETE /feed/subscriptions/{id}', { params: { id: `${id}X` } });
  assert.is((await rejection(unknown)).code, 'not_found');
});

const issue = 'POST /feed/subscriptions/{id}/credentials';
const revoke = 'DELETE /feed/subscriptions/{id}/credentials';
const create = 'POST /feed/subscriptions';
const show = 'GET /feed/subscriptions/{id}';

test('credentials replace those before, are told to the gateway and shown in one answer only', async () => {
  const { call, gateway } = world();
  const { id, credentials: none } = await call(create, { body: { name: 'x' } });
  assert.is(none, undefined);
  assert.not.ok(gateway?.told.has(id), 'without credentials it has no place at the gateway');
  for (const generation of [1, 2]) {
    const issued = await call(issue, { params: { id } });
    assert.is(issued.credentials, `${id} ${generation}`);
    assert.is(issued.generation, generation);
    assert.is(issued.consumer, id);
    assert.equal(issued.urls, ['nats://gateway:4222']);
    assert.is(gateway?.told.get(id)?.credentials?.generation, generation);
  }
  const { credentials } = await call(show, { params: { id } });
  assert.equal(Object.keys(credentials), ['generation', 'issued_at']);
});

test('revoked credentials are none, and the next ones are of another generation', async () => {
  const { call, gateway } = world();
  const { id } = await call(create, { body: { name: 'x' } });
  await call(revoke, { params: { id } });
  await call(issue, { params: { id }, body: { expires_at: '2999-01-01T00:00:00Z' } });
  const told = gateway?.told.get(id)?.credentials;
  assert.is(told?.expiresAt, '2999-01-01T00:00:00.000Z');
  await call(revoke, { params: { id } });
  assert.is(gateway?.told.get(id)?.credentials, null);
  assert.is((await call(show, { params: { id } })).credentials, undefined);
  assert.is((await call(issue, { params: { id } })).generation, 2);
});

test('a deleted subscription has no place at the gateway and gets no credentials', async () => {
  const { call, gateway } = world();
  const { id } = await call(create, { body: { name: 'x' } });
  await call(issue, { params: { id } });
  await call('DELETE /feed/subscriptions/{id}', { params: { id } });
  assert.is(gateway?.told.get(id), null);
  for (const route of [issue, revoke] as const) {
    assert.is((await rejection(call(route, { params: { id } }))).code, 'not_found');
  }
});

test('a gateway that is away holds up nothing; where there is none, none are issued', async () => {
  const away = world({ isAway: true });
  const { id } = await away.call(create, { body: { name: 'x', from: 'oldest' } });
  assert.is((await away.call(issue, { params: { id } })).generation, 1);
  await away.call(revoke, { params: { id } });
  const without = world({ withoutGateway: true });
  const made = await without.call(create, { body: { name: 'x' } });
  const refused = without.call(issue, { params: { id: made.id } });
  assert.is((await rejection(refused)).code, 'service_unavailable');
  await without.call(revoke, { params: { id: made.id } });
});

test('what is revoked while the gateway is being told stays revoked', async () => {
  let id = '';
  const { call, gateway } = world({ meanwhile: () => call(revoke, { params: { id } }) });
  id = (await call(create, { body: { name: 'x' } })).id;
  await call(issue, { params: { id } });
  assert.is(gateway?.told.get(id)?.credentials, null);
});

test('credentials that would have expired already are refused', async () => {
  const { call } = world();
  const { id } = await call(create, { body: { name: 'x' } });
  const expired = call(issue, { params: { id }, body: { expires_at: '2000-01-01T00:00:00Z' } });
  assert.is((await rejection(expired)).code, 'validation_error');
});

test('bad input is refused by name', () => {
  const pointers = (body: object) => pointersOf(createSubscriptionSchema, { name: 'x', ...body });
  assert.equal(pointers({ name: '' }), ['/name']);
  assert.equal(pointers({ resource: 'wallet.transaction' }), ['/resource']);
  assert.equal(pointers({ resource: '>' }), ['/resource']);
  assert.equal(pointers({ max_unconfirmed: 0 }), ['/max_unconfirmed']);
  assert.equal(pointers({ max_unconfirmed: 1001 }), ['/max_unconfirmed']);
  assert.equal(pointers({ after_position: '-1' }), ['/after_position']);
  assert.equal(pointers({ from: 'oldest', start_time: '2026-01-01T00:00:00Z' }), ['/from']);
});

test.run();
