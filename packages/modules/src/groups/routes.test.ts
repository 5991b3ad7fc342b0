import {
  callRoute,
  memoryWorld,
  pointersOf,
  published,
  rejection,
  testPrincipal,
} from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { z } from 'zod';
import { createFeature, feature } from '../features/index.ts';
import { meter } from '../meters/index.ts';
import { groupMemberRoutes, offer } from '../offers/index.ts';
import { group, groupRecords, groupReference } from './group.ts';
import { groupRoutes } from './routes.ts';

const routes = { ...groupRoutes, ...groupMemberRoutes };
const { byIds: groupsById, publicEvents: groupPublicEvents } = groupRecords;
const groupSearchSchema = routes['POST /groups/search'].body as z.ZodType;

const test = suite('group routes');

/** A world with groups, and with features in them. */
function groupsOf() {
  const world = memoryWorld([group, meter, feature, offer]);
  const context = (environment?: string) => world.request(testPrincipal(environment));
  return {
    context,
    async addFeature(group_id: string): Promise<string> {
      const id = context().newId('feat');
      const units = { unit_singular: null, unit_plural: null, reporting_unit: null };
      const rest = { lookup_key: null, description: null, alert_settings: null, metadata: {} };
      const data = { id, name: 'F', type: 'static', meter_id: null, group_id, ...units, ...rest };
      await context().execute(feature, id, createFeature(data as never));
      return id;
    },
    create: (body: object) => callRoute(routes['POST /groups'], context(), { body }),
    get: (id: string, within = context()) =>
      callRoute(routes['GET /groups/{id}'], within, { params: { id } }),
    remove: (id: string) => callRoute(routes['DELETE /groups/{id}'], context(), { params: { id } }),
    list: (query: object) => callRoute(routes['GET /groups'], context(), { query }),
    search: (body: object) => callRoute(routes['POST /groups/search'], context(), { body }),
  };
}

const models = { name: 'Models', lookup_key: 'models', entity_type: 'feature' };

test('a group shows the ids of its members, of its own kind alone', async () => {
  const { create, get, list, addFeature } = groupsOf();
  const { id, entity_ids } = await create(models);
  assert.equal(entity_ids, []);
  const first = await addFeature(id);
  const second = await addFeature(id);
  assert.equal((await get(id)).entity_ids, [second, first]);
  assert.is((await list({})).items[0]?.entity_ids, undefined);
  const prices = await create({ name: 'Tiers', lookup_key: 'tiers', entity_type: 'price' });
  assert.equal((await get(prices.id)).entity_ids, []);
});

test('a lookup_key is unique until its group is deleted', async () => {
  const { create, remove, get } = groupsOf();
  const { id } = await create(models);
  assert.is((await rejection(create(models))).code, 'already_exists');
  await remove(id);
  await remove(id);
  assert.is((await get(id)).status, 'archived');
  assert.is.not((await create(models)).id, id);
});

test('a group with members is not deleted', async () => {
  const { create, remove, get, addFeature } = groupsOf();
  const { id } = await create(models);
  const member = await addFeature(id);
  const refused = await rejection(remove(id));
  assert.is(refused.code, 'invalid_operation');
  assert.match(refused.message, member);
  assert.is((await get(id)).status, 'published');
});

test('lists and searches take ids, lookup_key, name and kind', async () => {
  const { create, list, search } = groupsOf();
  const { id } = await create(models);
  await create({ name: 'Tiers', lookup_key: 'tiers', entity_type: 'price' });
  const names = (page: { items: readonly { name: string }[] }) => page.items.map((g) => g.name);
  assert.equal(names(await list({})), ['Tiers', 'Models']);
  assert.equal(names(await list({ entity_type: 'price' })), ['Tiers']);
  assert.equal(names(await list({ group_ids: id })), ['Models']);
  assert.equal(names(await search({ lookup_key: 'tiers' })), ['Tiers']);
  assert.equal(names(await search({ name: 'Models' })), ['Models']);
  assert.equal(
    pointersOf(groupSearchSchema, { group_ids: [] }),
    ['/group_ids'],
    'no ids are not all ids',
  );
});

test('a reference is a published group of the right kind', async () => {
  const { create, remove, context } = groupsOf();
  const { id } = await create(models);
  assert.is((await groupReference(context(), id, 'feature')).id, id);
  const misplaced = await rejection(groupReference(context(), id, 'price'));
  assert.is(misplaced.errors?.[0]?.pointer, '/group_id');
  assert.is((await rejection(groupReference(context('env_02'), id, 'feature'))).code, 'not_found');
  const unknown = await rejection(groupReference(context(), 'group_x', 'feature'));
  assert.equal([unknown.code, unknown.details?.field], ['not_found', 'group_id']);
  await remove(id);
  assert.is((await rejection(groupReference(context(), id, 'feature'))).code, 'invalid_operation');
  assert.is((await groupsById(context(), [id])).get(id)?.status, 'archived');
});

test('each change is published under its name, with the whole group', async () => {
  const { create, remove, context } = groupsOf();
  const { id } = await create(models);
  await remove(id);
  const seen = await published(context(), groupPublicEvents, group, id);
  assert.equal(
    seen.map(({ type, body }) => [type, (body.group as { status: string }).status]),
    [
      ['group.created', 'published'],
      ['group.deleted', 'archived'],
    ],
  );
});

test.run();
