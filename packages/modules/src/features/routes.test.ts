import type { Routes } from '@counterfoil/engine/define';
import { invariant } from '@counterfoil/kernel';
import {
  callRoute,
  type Idempotency,
  memoryWorld,
  pointersOf,
  published,
  reactTo,
  rejection,
  testPrincipal,
} from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { z } from 'zod';
import { group, groups } from '../groups/index.ts';
import { meter, meters } from '../meters/index.ts';
import { groupMemberRoutes, offer } from '../offers/index.ts';
import { featuresById } from './embedding.ts';
import { feature, featureRecords, featureReference } from './feature.ts';
import { meterOfFeature } from './reactions.ts';
import { featureRoutes as routes } from './routes.ts';

const { publicEvents: featurePublicEvents } = featureRecords;

const test = suite('feature routes');

/** A world with features, meters and groups. */
function featuresWith() {
  const world = memoryWorld([meter, group, feature, offer]);
  const { routes: meterRoutes } = meters;
  const groupRoutes: Routes = { ...groups.routes, ...groupMemberRoutes };
  const context = (idempotency?: Idempotency) => world.request(testPrincipal(), idempotency);
  const other = async (key: string, input: object) => {
    const found = { ...meterRoutes, ...groupRoutes }[key as 'GET /meters'];
    invariant(found, `there is no route ${key}`);
    const answer = await callRoute(found, context(), input);
    return answer as { readonly id: string; readonly entity_ids?: readonly string[] };
  };
  return {
    world,
    context,
    other,
    create: (body: object, within = context()) =>
      callRoute(routes['POST /features'], within, { body }),
    get: (id: string) => callRoute(routes['GET /features/{id}'], context(), { params: { id } }),
    update: (id: string, body: object) =>
      callRoute(routes['PUT /features/{id}'], context(), { params: { id }, body }),
    clone: (id: string, body: object, within = context()) =>
      callRoute(routes['POST /features/{id}/clone'], within, { params: { id }, body }),
    remove: (id: string) =>
      callRoute(routes['DELETE /features/{id}'], context(), { params: { id } }),
    list: (query: object) => callRoute(routes['GET /features'], context(), { query }),
    search: (body: object) => callRoute(routes['POST /features/search'], context(), { body }),
  };
}

const definition = { name: 'M', event_name: 'e', aggregation: { type: 'SUM', field: 'tokens' } };
const tokens = { name: 'Tokens', type: 'metered', lookup_key: 'tokens', meter: definition };
const support = { name: 'Support', type: 'static' };

test('a metered feature brings its meter, and shows it whole', async () => {
  const { create, get, other } = featuresWith();
  const created = await create(tokens);
  assert.is(created.meter?.id, created.meter_id);
  assert.equal(created.meter?.aggregation, { type: 'SUM', field: 'tokens' });
  assert.equal(await get(created.id), created);
  const meterShown = await other('GET /meters/{id}', { params: { id: created.meter_id } });
  assert.equal(meterShown, created.meter);
});

test('a feature refers to a meter and a group that are there', async () => {
  const { create, other } = featuresWith();
  const { id: meter_id } = await other('POST /meters', { body: definition });
  const inGroup = { name: 'G', lookup_key: 'g', entity_type: 'feature' };
  const { id: group_id } = await other('POST /groups', { body: inGroup });
  const { id: prices } = await other('POST /groups', {
    body: { ...inGroup, lookup_key: 'p', entity_type: 'price' },
  });
  const made = await create({ name: 'x', type: 'metered', meter_id, group_id });
  assert.equal([made.meter?.id, made.group?.id], [meter_id, group_id]);
  const members = (await other('GET /groups/{id}', { params: { id: group_id } })).entity_ids;
  assert.equal(members, [made.id]);
  const fieldOf = async (body: object) => {
    const { code, details, errors } = await rejection(create({ ...support, ...body }));
    return [code, details?.field ?? errors?.[0]?.pointer];
  };
  assert.equal(await fieldOf({ group_id: 'group_x' }), ['not_found', 'group_id']);
  assert.equal(await fieldOf({ group_id: prices }), ['validation_error', '/group_id']);
  const unknown = { type: 'metered', meter_id: 'meter_x' };
  assert.equal(await fieldOf(unknown), ['not_found', 'meter_id']);
  await other('POST /meters/{id}/disable', { params: { id: meter_id } });
  assert.equal(await fieldOf({ type: 'metered', meter_id }), ['invalid_operation', 'meter_id']);
});

test('a refused creation leaves no meter behind', async () => {
  const { create, world } = featuresWith();
  await create(tokens);
  const events = world.store.log.length;
  assert.is((await rejection(create(tokens))).code, 'already_exists');
  const alone = { ...tokens, lookup_key: 'b', unit_singular: 'token' };
  assert.is((await rejection(create(alone))).errors?.[0]?.pointer, '/unit_plural');
  const lost = { ...tokens, lookup_key: 'b', group_id: 'group_x' };
  assert.is((await rejection(create(lost))).details?.field, 'group_id');
  assert.is(world.store.log.length, events);
});

test('repeated creates and clones answer the same, with one meter each', async () => {
  const { create, clone, context, world } = featuresWith();
  const creation = { key: 'k1', operation: 'POST /features', fields: tokens };
  const first = await create(tokens, context(creation));
  const cloning = { key: 'k2', operation: `POST /features/${first.id}/clone`, fields: {} };
  const copy = await clone(first.id, { lookup_key: 'copy' }, context(cloning));
  const events = world.store.log.length;
  assert.equal(await create(tokens, context(creation)), first);
  assert.equal(await clone(first.id, { lookup_key: 'copy' }, context(cloning)), copy);
  assert.is(world.store.log.length, events);
});

test('an update changes the feature and the filters of its meter', async () => {
  const { create, update } = featuresWith();
  const { id } = await create(tokens);
  const filters = [{ key: 'model', values: ['large'] }];
  const changed = await update(id, { name: 'Words', filters });
  assert.equal([changed.name, changed.meter?.filters], ['Words', filters]);
  const { id: plain } = await create(support);
  const refused = await rejection(update(plain, { name: 'x', filters }));
  assert.is(refused.errors?.[0]?.pointer, '/filters');
});

test('filters of a stopped meter change nothing at all', async () => {
  const { create, update, get, other } = featuresWith();
  const { id, meter_id } = await create(tokens);
  await other('POST /meters/{id}/disable', { params: { id: meter_id } });
  const refused = await rejection(update(id, { name: 'Words', filters: [] }));
  assert.is(refused.code, 'invalid_operation');
  assert.is((await get(id)).name, 'Tokens');
});

test('a meter that could not be created at once follows from its feature, once', async () => {
  const { world, context, create, get, other } = featuresWith();
  const isOfMeter = ({ type }: { readonly type: string }) => type === 'MeterCreated';
  world.store.fate = (_stream, events) => (events.some(isOfMeter) ? 'unavailable' : 'written');
  const made = await create(tokens);
  const { id, meter_id } = made;
  assert.is(made.meter, undefined);
  const deletion = () => rejection(other('DELETE /meters/{id}', { params: { id: meter_id } }));
  assert.is((await deletion()).code, 'not_found');
  world.store.fate = () => 'written';
  await reactTo(context(), meterOfFeature, id);
  assert.is((await get(id)).meter?.id, meter_id);
  assert.match((await deletion()).message, id, 'it was in use before it was there');
  const events = world.store.log.length;
  await reactTo(context(), meterOfFeature, id);
  assert.is(world.store.log.length, events);
});

test('of filters that are carried out late, those count that were asked for last', async () => {
  const { world, context, create, update, get } = featuresWith();
  const { id } = await create(tokens);
  const filters = (value: string) => [{ key: 'model', values: [value] }];
  world.store.fate = (stream) => (stream.startsWith('meter-') ? 'unavailable' : 'written');
  await update(id, { filters: filters('first') });
  world.store.fate = () => 'written';
  await update(id, { filters: filters('second') });
  await reactTo(context(), meterOfFeature, id);
  assert.equal((await get(id)).meter?.filters, filters('second'));
});

test('a clone has its own id, key and meter; the source stays as it was', async () => {
  const { create, clone, get } = featuresWith();
  const source = await create({ ...tokens, metadata: { a: '1' }, description: 'D' });
  const copy = await clone(source.id, { metadata: { b: '2' } });
  assert.equal([copy.name, copy.lookup_key, copy.description], ['Tokens (copy)', undefined, 'D']);
  assert.equal(copy.metadata, { a: '1', b: '2', source_feature_id: source.id });
  assert.is.not(copy.meter_id, source.meter_id);
  assert.equal(copy.meter?.aggregation, source.meter?.aggregation);
  assert.equal(await get(source.id), source);
  const named = await rejection(clone(source.id, { name: 'Tokens' }));
  assert.is(named.errors?.[0]?.pointer, '/name');
  const keyed = await rejection(clone(source.id, { lookup_key: 'tokens' }));
  assert.is(keyed.code, 'already_exists');
  assert.is((await rejection(clone('feat_x', {}))).code, 'not_found');
});

test('a deletion archives the feature and stops its meter', async () => {
  const { create, remove, get, list } = featuresWith();
  const { id } = await create(tokens);
  assert.match((await remove(id)).message, id);
  await remove(id);
  const gone = await get(id);
  assert.equal([gone.status, gone.meter?.status], ['archived', 'archived']);
  assert.is((await list({})).pagination.total, 0);
  assert.is.not((await create(tokens)).id, id, 'its key is free again');
});

test('a meter that something else uses goes on', async () => {
  const shared = featuresWith();
  const { id, meter_id } = await shared.create(tokens);
  await shared.create({ name: 'Other', type: 'metered', meter_id });
  await shared.remove(id);
  assert.is((await shared.get(id)).meter?.status, 'published');
});

test('the meter of a feature is not deleted', async () => {
  const used = featuresWith();
  const { id, meter_id } = await used.create(tokens);
  const ofMeter = used.other('DELETE /meters/{id}', { params: { id: meter_id } });
  assert.match((await rejection(ofMeter)).message, id);
});

test('lists and searches take ids, keys and meters', async () => {
  const { create, list, search } = featuresWith();
  const { id, meter_id } = await create(tokens);
  await create({ ...support, lookup_key: 'support' });
  const names = (page: { items: readonly { name: string }[] }) => page.items.map((f) => f.name);
  assert.equal(names(await list({})), ['Support', 'Tokens']);
  assert.is((await list({ feature_ids: id })).items[0]?.meter?.id, meter_id);
  assert.equal(names(await list({ lookup_keys: 'support,tokens' })), ['Support', 'Tokens']);
  assert.equal(names(await search({ lookup_key: 'support' })), ['Support']);
  assert.equal(names(await search({ meter_ids: [meter_id] })), ['Tokens']);
  assert.equal(names(await search({ name_contains: 'UPP' })), ['Support']);
  assert.equal(
    pointersOf(routes['POST /features/search'].body as z.ZodType, {
      feature_ids: [],
    }),
    ['/feature_ids'],
    'no ids are not all ids',
  );
});

test('a reference is a feature that is not archived', async () => {
  const { create, remove, context, world } = featuresWith();
  const { id } = await create(support);
  assert.is((await featureReference(context(), id)).id, id);
  const foreign = world.request(testPrincipal('env_02'));
  const unknown = await rejection(featureReference(foreign, id));
  assert.equal([unknown.code, unknown.details?.field], ['not_found', 'feature_id']);
  await remove(id);
  assert.is((await rejection(featureReference(context(), id))).code, 'invalid_operation');
  assert.is((await featuresById(context(), [id])).get(id)?.status, 'archived');
});

test('each change is published under the name that the specification gives it', async () => {
  const { create, update, remove, context } = featuresWith();
  const { id } = await create(tokens);
  await update(id, { name: 'Words' });
  await remove(id);
  const seen = await published(context(), featurePublicEvents, feature, id);
  assert.equal(
    seen.map(({ type, body }) => [type, (body.feature as { name: string }).name]),
    [
      ['feature.created', 'Tokens'],
      ['feature.updated', 'Words'],
      ['feature.deleted', 'Words'],
    ],
  );
});

test('messages show the meter and the group of the feature as they are at each of them', async () => {
  const { create, update, other, context } = featuresWith();
  const { id: group_id } = await other('POST /groups', {
    body: { name: 'Models', entity_type: 'feature', lookup_key: 'models' },
  });
  const { id, meter_id } = await create({ ...tokens, group_id });
  await update(id, { filters: [{ key: 'model', values: ['a'] }] });
  await update(id, { name: 'Words' });
  const seen = await published(context(), featurePublicEvents, feature, id);
  const shown = seen.map(({ body }) => featureRecords.schema.parse(body.feature));
  assert.equal(
    shown.map(({ meter: inside, group: named }) => [inside?.id, inside?.filters, named?.id]),
    [
      // The meter follows from this very event: it is shown as the feature defines it.
      [meter_id, [], group_id],
      [meter_id, [], group_id],
      [meter_id, [{ key: 'model', values: ['a'] }], group_id],
    ],
  );
});

test.run();
