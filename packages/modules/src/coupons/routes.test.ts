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
import { coupon, couponRecords } from './coupon.ts';
import { couponRoutes as routes } from './routes.ts';

const { publicEvents: couponPublicEvents, referred: couponReference } = couponRecords;
const couponSearchSchema = routes['POST /coupons/search'].body as z.ZodType;

const test = suite('coupon routes');

/** A world with nothing but coupons. */
function couponWorld() {
  const world = memoryWorld([coupon]);
  const context = (environment?: string) => world.request(testPrincipal(environment));
  return {
    context,
    create: (body: object) => callRoute(routes['POST /coupons'], context(), { body }),
    get: (id: string) => callRoute(routes['GET /coupons/{id}'], context(), { params: { id } }),
    getByCode: (code: string) =>
      callRoute(routes['GET /coupons/code/{code}'], context(), { params: { code } }),
    update: (id: string, body: object) =>
      callRoute(routes['PUT /coupons/{id}'], context(), { params: { id }, body }),
    remove: (id: string) =>
      callRoute(routes['DELETE /coupons/{id}'], context(), { params: { id } }),
    list: (query: object) => callRoute(routes['GET /coupons'], context(), { query }),
    search: (body: object) => callRoute(routes['POST /coupons/search'], context(), { body }),
  };
}

const ten = {
  name: 'Ten',
  type: 'percentage',
  percentage_off: '10',
  cadence: 'once',
  coupon_code: 'TEN',
};

test('a coupon is found by id and by its code in any case', async () => {
  const { create, get, getByCode } = couponWorld();
  const created = await create(ten);
  assert.equal(await get(created.id), created);
  assert.equal(await getByCode('ten'), created);
  const unknown = await rejection(getByCode('other'));
  assert.equal([unknown.code, unknown.details?.field], ['not_found', 'code']);
});

test('a code is unique whatever the case, until its coupon is deleted', async () => {
  const { create, remove, get, getByCode, list } = couponWorld();
  const { id } = await create(ten);
  assert.is((await rejection(create({ ...ten, coupon_code: 'Ten' }))).code, 'already_exists');
  await remove(id);
  assert.is((await get(id)).status, 'archived');
  assert.is((await rejection(getByCode('TEN'))).code, 'not_found');
  assert.is((await list({})).pagination.total, 0);
  const heir = await create(ten);
  assert.is((await getByCode('TEN')).id, heir.id);
});

test('lists and searches take ids and codes in any case', async () => {
  const { create, list, search } = couponWorld();
  const { id } = await create(ten);
  await create({ ...ten, name: 'Other', coupon_code: null });
  const names = (page: { items: readonly { name: string }[] }) => page.items.map((c) => c.name);
  assert.equal(names(await list({})), ['Other', 'Ten']);
  assert.equal(names(await list({ coupon_codes: 'ten,x' })), ['Ten']);
  assert.equal(names(await search({ coupon_ids: [id] })), ['Ten']);
  assert.equal(names(await search({ coupon_codes: ['tEn'] })), ['Ten']);
  assert.equal(
    pointersOf(couponSearchSchema, { coupon_codes: [] }),
    ['/coupon_codes'],
    'no ids are not all ids',
  );
});

test('a reference is a coupon that is not archived', async () => {
  const { create, remove, context } = couponWorld();
  const { id } = await create(ten);
  assert.is((await couponReference(context(), id)).id, id);
  const foreign = await rejection(couponReference(context('env_02'), id));
  assert.equal([foreign.code, foreign.details?.field], ['not_found', 'coupon_id']);
  await remove(id);
  assert.is((await rejection(couponReference(context(), id))).code, 'invalid_operation');
});

test('each change is published under its name, with the whole coupon', async () => {
  const { create, update, remove, context } = couponWorld();
  const { id } = await create(ten);
  await update(id, { name: 'Eleven' });
  await remove(id);
  const seen = await published(context(), couponPublicEvents, coupon, id);
  assert.equal(
    seen.map(({ type, body }) => [type, (body.coupon as { name: string }).name]),
    [
      ['coupon.created', 'Ten'],
      ['coupon.updated', 'Eleven'],
      ['coupon.deleted', 'Eleven'],
    ],
  );
});

test.run();
