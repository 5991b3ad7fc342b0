import {
  callRoute,
  type Idempotency,
  memoryWorld,
  pointersOf,
  published,
  rejection,
  testPrincipal,
} from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { z } from 'zod';
import { meter, meterRecords, meterReference } from './meter.ts';
import { meterRoutes as routes } from './routes.ts';

const { byIds: metersById, publicEvents: meterPublicEvents } = meterRecords;
const meterSearchSchema = routes['POST /meters/search'].body as z.ZodType;

const test = suite('meter routes');

/** A world with nothing but meters. */
function metersOf() {
  const world = memoryWorld([meter]);
  const context = (idempotency?: Idempotency) =>
    world.request(testPrincipal('env_01'), idempotency);
  return {
    context,
    world,
    create: (body: object, within = context()) =>
      callRoute(routes['POST /meters'], within, { body }),
    update: (id: string, body: object) =>
      callRoute(routes['PUT /meters/{id}'], context(), { params: { id }, body }),
    disable: (id: string) =>
      callRoute(routes['POST /meters/{id}/disable'], context(), { params: { id } }),
    remove: (id: string) => callRoute(routes['DELETE /meters/{id}'], context(), { params: { id } }),
    get: (id: string, within = context()) =>
      callRoute(routes['GET /meters/{id}'], within, { params: { id } }),
    list: (query: object) => callRoute(routes['GET /meters'], context(), { query }),
    search: (body: object) => callRoute(routes['POST /meters/search'], context(), { body }),
  };
}

const tokens = {
  name: 'Tokens',
  event_name: 'completion',
  aggregation: { type: 'SUM', field: 'tokens' },
};

test('a meter is created, read and given other filters', async () => {
  const { create, get, update } = metersOf();
  const created = await create(tokens);
  assert.equal(await get(created.id), created);
  const filters = [{ key: 'model', values: ['large'] }];
  assert.equal((await update(created.id, { filters })).filters, filters);
  assert.equal((await update(created.id, {})).filters, filters);
});

test('a repeated create answers the same meter', async () => {
  const { create, context, world } = metersOf();
  const repeated = { key: 'k1', operation: 'POST /meters', fields: tokens };
  const first = await create(tokens, context(repeated));
  const events = world.store.log.length;
  assert.equal(await create(tokens, context(repeated)), first);
  assert.is(world.store.log.length, events);
});

test('lists and searches take ids and the name of the event', async () => {
  const { create, list, search } = metersOf();
  const { id } = await create(tokens);
  await create({ ...tokens, name: 'Images', event_name: 'image' });
  const names = (page: { items: readonly { name: string }[] }) => page.items.map((m) => m.name);
  assert.equal(names(await list({})), ['Images', 'Tokens']);
  assert.equal(names(await list({ event_name: 'image' })), ['Images']);
  assert.equal(names(await search({ meter_ids: [id] })), ['Tokens']);
  assert.equal(
    pointersOf(meterSearchSchema, { meter_ids: [] }),
    ['/meter_ids'],
    'no ids are not all ids',
  );
});

test('a stopped meter is readable, out of lists and nothing new can refer to it', async () => {
  const { create, disable, get, list, context } = metersOf();
  const { id } = await create(tokens);
  assert.is((await meterReference(context(), id)).id, id);
  assert.is((await disable(id)).status, 'archived');
  assert.is((await get(id)).status, 'archived');
  assert.is((await list({})).pagination.total, 0);
  assert.is((await rejection(meterReference(context(), id))).code, 'invalid_operation');
  assert.is((await metersById(context(), [id, undefined, id])).get(id)?.status, 'archived');
});

test('a deleted meter is not found, neither by its path nor where a field names it', async () => {
  const { create, remove, get, context } = metersOf();
  const { id } = await create(tokens);
  assert.match((await remove(id)).message, id);
  assert.is((await rejection(get(id))).code, 'not_found');
  const { code, details } = await rejection(meterReference(context(), id));
  assert.equal([code, details?.field], ['not_found', 'meter_id']);
});

test('a meter of another environment is not there', async () => {
  const { create, get, world } = metersOf();
  const { id } = await create(tokens);
  const foreign = world.request(testPrincipal('env_02'));
  assert.is((await rejection(get(id, foreign))).code, 'not_found');
  assert.is((await rejection(meterReference(foreign, id))).code, 'not_found');
});

test('each change is published under its name, with the whole meter', async () => {
  const { create, update, disable, context } = metersOf();
  const { id } = await create(tokens);
  await update(id, { filters: [{ key: 'a', values: ['b'] }] });
  await disable(id);
  const seen = await published(context(), meterPublicEvents, meter, id);
  const types = seen.map(({ type, resourceId, body }) => [
    type,
    resourceId,
    (body.meter as { status: string }).status,
  ]);
  assert.equal(types, [
    ['meter.created', id, 'published'],
    ['meter.updated', id, 'published'],
    ['meter.disabled', id, 'archived'],
  ]);
});

test.run();
