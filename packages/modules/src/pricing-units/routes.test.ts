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
import { priceUnit, priceUnitRecords, priceUnitReference } from './price-unit.ts';
import { priceUnitRoutes as routes } from './routes.ts';

const { byIds: priceUnitsById, publicEvents: priceUnitPublicEvents } = priceUnitRecords;
const priceUnitSearchSchema = routes['POST /prices/units/search'].body as z.ZodType;

const test = suite('pricing unit routes');

/** A world with nothing but pricing units. */
function unitsOf() {
  const world = memoryWorld([priceUnit]);
  const context = (environment?: string) => world.request(testPrincipal(environment));
  return {
    context,
    create: (body: object) => callRoute(routes['POST /prices/units'], context(), { body }),
    get: (id: string) => callRoute(routes['GET /prices/units/{id}'], context(), { params: { id } }),
    getByCode: (code: string) =>
      callRoute(routes['GET /prices/units/code/{code}'], context(), { params: { code } }),
    update: (id: string, body: object) =>
      callRoute(routes['PUT /prices/units/{id}'], context(), { params: { id }, body }),
    remove: (id: string) =>
      callRoute(routes['DELETE /prices/units/{id}'], context(), { params: { id } }),
    list: (query: object) => callRoute(routes['GET /prices/units'], context(), { query }),
    search: (body: object) => callRoute(routes['POST /prices/units/search'], context(), { body }),
  };
}

const credits = {
  code: 'CRD',
  name: 'Credits',
  symbol: 'cr',
  base_currency: 'usd',
  conversion_rate: '0.01',
};

test('a unit is found by id and by its code in any case', async () => {
  const { create, get, getByCode } = unitsOf();
  const created = await create(credits);
  assert.equal(await get(created.id), created);
  assert.equal(await getByCode('crd'), created);
  const unknown = await rejection(getByCode('tok'));
  assert.equal([unknown.code, unknown.details?.field], ['not_found', 'code']);
});

test('a code is unique whatever the case, until its unit is deleted', async () => {
  const { create, remove, get, getByCode, context } = unitsOf();
  const { id } = await create(credits);
  assert.is((await rejection(create({ ...credits, code: 'crd' }))).code, 'already_exists');
  assert.is((await priceUnitReference(context(), 'Crd')).id, id);
  await remove(id);
  assert.is((await get(id)).status, 'archived');
  assert.is((await rejection(getByCode('CRD'))).code, 'not_found');
  const { code, details } = await rejection(priceUnitReference(context(), 'CRD'));
  assert.equal([code, details?.field], ['not_found', 'price_unit']);
  const heir = await create(credits);
  assert.is((await getByCode('CRD')).id, heir.id);
  assert.is((await priceUnitsById(context(), [id, heir.id])).size, 2);
});

test('lists and searches take ids', async () => {
  const { create, list, search } = unitsOf();
  const { id } = await create(credits);
  await create({ ...credits, code: 'tok', name: 'Tokens' });
  const names = (page: { items: readonly { name: string }[] }) => page.items.map((u) => u.name);
  assert.equal(names(await list({})), ['Tokens', 'Credits']);
  assert.equal(names(await list({ price_unit_ids: id })), ['Credits']);
  assert.equal(names(await search({ price_unit_ids: [id] })), ['Credits']);
  assert.equal(
    pointersOf(priceUnitSearchSchema, { price_unit_ids: [] }),
    ['/price_unit_ids'],
    'no ids are not all ids',
  );
});

test('what never changes may be sent as it is, and in no other way', async () => {
  const { create, update } = unitsOf();
  const unit = await create(credits);
  const same = { code: 'crd', symbol: 'cr', base_currency: 'USD', conversion_rate: 0.01 };
  assert.is((await update(unit.id, { ...same, name: 'Tokens' })).name, 'Tokens');
  for (const [field, other] of Object.entries({
    code: 'tok',
    symbol: 't',
    base_currency: 'eur',
    conversion_rate: '0.02',
  })) {
    const { code, errors } = await rejection(update(unit.id, { ...same, [field]: other }));
    assert.is(code, 'validation_error');
    const stored = JSON.stringify(credits[field as keyof typeof credits]);
    assert.equal(errors, [{ pointer: `/${field}`, message: `never changes: it is ${stored}` }]);
  }
});

test('a unit of another environment is not there', async () => {
  const { create, context } = unitsOf();
  await create(credits);
  const foreign = priceUnitReference(context('env_02'), 'CRD');
  assert.is((await rejection(foreign)).code, 'not_found');
});

test('each change is published under its name, with the whole unit', async () => {
  const { create, update, remove, context } = unitsOf();
  const { id } = await create(credits);
  await update(id, { name: 'Tokens' });
  await remove(id);
  const seen = await published(context(), priceUnitPublicEvents, priceUnit, id);
  assert.equal(
    seen.map(({ type, body }) => [type, (body.price_unit as { name: string }).name]),
    [
      ['price_unit.created', 'Credits'],
      ['price_unit.updated', 'Tokens'],
      ['price_unit.deleted', 'Tokens'],
    ],
  );
});

test.run();
