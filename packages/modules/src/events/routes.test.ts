import type { FeedEvent, Principal, PublicFeed } from '@counterfoil/engine/define';
import { publicEvents } from '@counterfoil/engine/define';
import {
  aggregate,
  type EnvironmentId,
  type KeyId,
  type TenantId,
  type UserId,
} from '@counterfoil/kernel';
import { callRoute, memoryWorld, pointersOf, rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { asyncApiDocument } from './async-api.ts';
import { bodySchema, eventTypesOf } from './event-type.ts';
import { eventRoutes } from './routes.ts';
import { feedQuerySchema } from './schema.ts';

const test = suite('event routes');

const box = aggregate({
  name: 'box',
  scope: 'environment',
  events: { Made: z.object({}) },
  initial: null,
  evolve: () => null,
});
const boxPublicEvents = publicEvents(box, () => [], {
  'box.made.today': {
    summary: 'A box is made',
    body: z.object({ box: z.object({ id: z.string() }) }),
  },
  'box.broken': { summary: 'A box is broken', kind: 'entry', body: z.object({}) },
});
const types = eventTypesOf([boxPublicEvents]);

const principal: Principal = {
  tenantId: 'tenant_01' as TenantId,
  environmentId: 'env_01' as EnvironmentId,
  userId: 'user_01' as UserId,
  keyId: 'secret_01' as KeyId,
  roles: ['super_admin'],
  allows: () => true,
};
const context = () => memoryWorld([box]).request(principal);

const noFeed: PublicFeed = { read: () => Promise.reject(new Error('not asked for')) };

test('the feed is asked for the environment of the caller, and its page shown', async () => {
  const asked: unknown[] = [];
  const routes = eventRoutes(types, {
    read: async ({ tenantId, environmentId }, { after, limit, type, resourceId }) => {
      asked.push([tenantId, environmentId, after, limit, type, resourceId]);
      const event = {
        id: 'evt_1',
        type: 'box.broken',
        resourceId: 'box_1',
        occurredAt: '2026-11-01T00:00:00.000Z',
        position: '12',
        stream: 'box-env_01.box_1',
        revision: 3,
        body: { event_type: 'box.broken' },
      };
      return { events: [event], nextPosition: '12', hasMore: true };
    },
  });
  const query = { after_position: '7', limit: '20', event_type: 'box.*', resource_id: 'box_1' };
  assert.equal(await callRoute(routes['GET /feed'], context(), { query }), {
    items: [
      {
        id: 'evt_1',
        event_type: 'box.broken',
        resource_id: 'box_1',
        occurred_at: '2026-11-01T00:00:00.000Z',
        position: '12',
        revision: 3,
        data: { event_type: 'box.broken' },
      },
    ],
    next_position: '12',
    has_more: true,
  });
  await callRoute(routes['GET /feed'], context());
  assert.equal(asked, [
    ['tenant_01', 'env_01', '7', 20, 'box.*', 'box_1'],
    ['tenant_01', 'env_01', null, 50, undefined, undefined],
  ]);
});

test('events about one customer are picked out, and those of one change stay together', async () => {
  const event = (position: string, body: FeedEvent['body']): FeedEvent => ({
    id: `evt_${position}`,
    type: 'box.broken',
    resourceId: 'box_1',
    occurredAt: '2026-11-01T00:00:00.000Z',
    position,
    stream: 'box-env_01.box_1',
    revision: 3,
    body,
  });
  const own = { event_type: 'box.broken', box: { id: 'box_1', customer_id: 'cust_1' } };
  const events = [
    event('1', own),
    event('2', { customer: { id: 'cust_2' }, box: { customer_id: 'cust_2' } }),
    event('3', { customer: { id: 'cust_1' } }),
    event('3', own),
    event('4', { id: 'cust_1', box: null }),
    event('5', own),
  ];
  const asked: number[] = [];
  const routes = eventRoutes(types, {
    read: async (_scope, { limit }) => {
      asked.push(limit);
      return { events, nextPosition: '9', hasMore: false };
    },
  });
  const page = async (limit: number) => {
    const query = { customer_id: 'cust_1', limit: String(limit) };
    const read = await callRoute(routes['GET /feed'], context(), { query });
    return [read.items.map(({ position }) => position), read.next_position, read.has_more];
  };
  assert.equal(await page(1), [['1'], '1', true]);
  assert.equal(await page(2), [['1', '3', '3'], '3', true]);
  assert.equal(await page(4), [['1', '3', '3', '5'], '9', false]);
  assert.equal(asked, [1_000, 1_000, 1_000]);
});

test('a query that makes no sense is refused by name', () => {
  const schema = feedQuerySchema(new Set(types.keys()));
  assert.equal(pointersOf(schema, { event_type: 'box.made.*', resource_id: 'box_1' }), []);
  for (const event_type of ['box', 'box.mad', 'crate.*', 'box.broken.*', '*']) {
    assert.equal(pointersOf(schema, { event_type }), ['/event_type']);
  }
  assert.equal(pointersOf(schema, { resource_id: 'box.>' }), ['/resource_id']);
  assert.equal(pointersOf(schema, { customer_id: '' }), ['/customer_id']);
  assert.equal(pointersOf(schema, { after_position: '-1' }), ['/after_position']);
  assert.equal(pointersOf(schema, { after_position: '1e3' }), ['/after_position']);
  assert.equal(pointersOf(schema, { limit: '0' }), ['/limit']);
  assert.equal(pointersOf(schema, { limit: '1001' }), ['/limit']);
  assert.equal(pointersOf(schema, { limit: '1e2' }), ['/limit']);
});

test('types are listed by name, each with its schema', async () => {
  const routes = eventRoutes(types, noFeed);
  const { items } = await callRoute(routes['GET /event-types'], context());
  assert.equal(items, [
    {
      event_type: 'box.broken',
      summary: 'A box is broken',
      kind: 'entry',
      schema_url: '/v1/event-types/box.broken/schema',
    },
    {
      event_type: 'box.made.today',
      summary: 'A box is made',
      kind: 'state',
      schema_url: '/v1/event-types/box.made.today/schema',
    },
  ]);
  const schema = await callRoute(routes['GET /event-types/{event_type}/schema'], context(), {
    params: { event_type: 'box.made.today' },
  });
  assert.equal(schema.required, ['event_type', 'box']);
  const unknown = callRoute(routes['GET /event-types/{event_type}/schema'], context(), {
    params: { event_type: 'box' },
  });
  assert.is((await rejection(unknown)).code, 'not_found');
});

test('one name is one type', () => {
  const differently = Object.fromEntries(
    Object.entries(boxPublicEvents.types).map(([name, type]) => [name, { ...type }]),
  );
  assert.throws(
    () => eventTypesOf([boxPublicEvents, { types: differently }]),
    /two publicEvents give box/,
  );
  // Records of one kind may be in streams of two.
  assert.is(eventTypesOf([boxPublicEvents, boxPublicEvents]).size, types.size);
});

test('the AsyncAPI document has the subjects that the relay publishes under, and that of usage', () => {
  const document = asyncApiDocument(types, '1') as {
    channels: Record<string, { address: string | null }>;
    components: { messages: object };
  };
  assert.equal(
    Object.values(document.channels).map(({ address }) => address),
    [
      'billing.v1.{tenant_id}.{environment_id}.box.{resource_id}.broken',
      'billing.v1.{tenant_id}.{environment_id}.box.{resource_id}.made.today',
      'live.billing.v1.{tenant_id}.{environment_id}.box.{resource_id}.broken',
      'live.billing.v1.{tenant_id}.{environment_id}.box.{resource_id}.made.today',
      'usage.v1.{tenant_id}.{environment_id}',
      // The answer goes wherever its receiver says.
      null,
    ],
  );
  const type = types.get('box.broken');
  assert.ok(type);
  const { $schema: _version, ...body } = bodySchema('box.broken', type) as Record<string, unknown>;
  assert.equal(
    (document.components.messages as Record<string, { payload: object }>).box_broken?.payload,
    body,
  );
});

test.run();
