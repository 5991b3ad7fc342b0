import type { DurableReader, EventBroker, Principal } from '@counterfoil/engine/define';
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
    read: async (_scope, after) => {
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

function world(options = {}) {
  const { broker, readers } = brokerOf(options);
  const memory = memoryWorld([eventSubscription]);
  const routes = subscriptionRoutes(broker);
  const call = (key: keyof typeof routes, input: object) =>
    // biome-ignore lint/suspicious/noExplicitAny: one caller for all routes of this table.
    callRoute(routes[key], memory.request(principal), input) as Promise<any>;
  return { readers, call };
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
    const made = await call('POST /events/subscriptions', { body: { name: 'x', ...body } });
    const reader = readers.get(made.id);
    assert.equal(reader?.start, start);
    assert.equal(reader?.scope, { tenantId: 'tenant_01', environmentId: 'env_01' });
    assert.is(made.nats.consumer, made.id);
  }
});

test('a position whose events are gone is refused, and nothing is stored', async () => {
  const { readers, call } = world();
  const gone = call('POST /events/subscriptions', { body: { name: 'x', after_position: '1' } });
  assert.is((await rejection(gone)).code, 'invalid_operation');
  assert.is(readers.size, 0);
});

test('a replay replaces the reader by one of the next generation', async () => {
  const { readers, call } = world();
  const { id } = await call('POST /events/subscriptions', { body: { name: 'x' } });
  const again = await call('POST /events/subscriptions/{id}/replay', {
    params: { id },
    body: { from: 'oldest' },
  });
  assert.is(again.generation, 2);
  assert.equal(readers.get(id)?.generation, 2);
  assert.equal(readers.get(id)?.start, { kind: 'oldest' });
});

test('a broker that is away holds up neither creation nor deletion', async () => {
  const { call } = world({ isAway: true });
  const { id } = await call('POST /events/subscriptions', {
    body: { name: 'x', from: 'oldest' },
  });
  const shown = await call('GET /events/subscriptions/{id}', { params: { id } });
  assert.not.ok('delivery' in shown);
  await call('DELETE /events/subscriptions/{id}', { params: { id } });
  const gone = call('GET /events/subscriptions/{id}', { params: { id } });
  assert.is((await rejection(gone)).code, 'not_found');
});

test('a deleted one stays deleted, and cannot begin anew', async () => {
  const { readers, call } = world();
  const { id } = await call('POST /events/subscriptions', { body: { name: 'x' } });
  await call('DELETE /events/subscriptions/{id}', { params: { id } });
  await call('DELETE /events/subscriptions/{id}', { params: { id } });
  assert.not.ok(readers.has(id));
  const replay = call('POST /events/subscriptions/{id}/replay', { params: { id } });
  assert.is((await rejection(replay)).code, 'not_found');
  const unknown = call('DELETE /events/subscriptions/{id}', { params: { id: `${id}X` } });
  assert.is((await rejection(unknown)).code, 'not_found');
});

test('bad input is refused by name', () => {
  const pointers = (body: object) => pointersOf(createSubscriptionSchema, { name: 'x', ...body });
  assert.equal(pointers({ name: '' }), ['/name']);
  assert.equal(pointers({ resource: 'wallet.transaction' }), ['/resource']);
  assert.equal(pointers({ resource: '>' }), ['/resource']);
  assert.equal(pointers({ max_unconfirmed: 0 }), ['/max_unconfirmed']);
  assert.equal(pointers({ max_unconfirmed: 1001 }), ['/max_unconfirmed']);
  assert.equal(pointers({ after_position: '-1' }), ['/after_position']);
  assert.equal(pointers({ from: 'oldest', start_time: '2026-01-01T00:00:00Z' }), [
    '/after_position',
  ]);
});

test.run();
