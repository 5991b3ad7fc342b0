import type { Principal, RequestContext } from '@counterfoil/engine/define';
import type { EnvironmentId, KeyId, TenantId, UserId } from '@counterfoil/kernel';
import {
  callRoute,
  type Idempotency,
  memoryWorld,
  pointersOf,
  rejection,
} from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { z } from 'zod';
import { customer } from './customer.ts';
import { customerReference } from './reference.ts';
import { customerRoutes as routes } from './routes.ts';

const customerSearchSchema = routes['POST /customers/search'].body as z.ZodType;

const test = suite('customer routes');

const principalOf = (environment: string): Principal => ({
  tenantId: 'tenant_01' as TenantId,
  environmentId: environment as EnvironmentId,
  userId: 'user_01' as UserId,
  keyId: 'secret_01' as KeyId,
  roles: ['super_admin'],
  allows: () => true,
});

/** A world with nothing but customers. */
function customersOf() {
  const world = memoryWorld([customer]);
  const context = (idempotency?: Idempotency) => world.request(principalOf('env_01'), idempotency);
  return {
    world,
    context,
    create: (body: object, within: RequestContext = context()) =>
      callRoute(routes['POST /customers'], within, { body }),
    update: (query: object, body: object) =>
      callRoute(routes['PUT /customers'], context(), { query, body }),
    remove: (id: string) =>
      callRoute(routes['DELETE /customers/{id}'], context(), { params: { id } }),
    get: (id: string, within: RequestContext = context()) =>
      callRoute(routes['GET /customers/{id}'], within, { params: { id } }),
    getByExternalId: (external_id: string) =>
      callRoute(routes['GET /customers/external/{external_id}'], context(), {
        params: { external_id },
      }),
    search: (body: object) => callRoute(routes['POST /customers/search'], context(), { body }),
  };
}

const ada = { name: 'Ada', external_id: 'ext-ada' };
const eve = { name: 'Eve', external_id: 'ext-eve' };

test('a customer is found by both of its ids', async () => {
  const { create, get, getByExternalId } = customersOf();
  const created = await create(ada);
  assert.equal(await get(created.id), created);
  assert.equal(await getByExternalId('ext-ada'), created);
});

test('an external_id is unique in its environment', async () => {
  const { create, update } = customersOf();
  await create(ada);
  assert.is((await rejection(create({ ...eve, external_id: 'ext-ada' }))).code, 'already_exists');
  await create(eve);
  const taken = update({ external_customer_id: 'ext-eve' }, { external_id: 'ext-ada' });
  assert.is((await rejection(taken)).code, 'already_exists');
});

test('a repeated create answers the same customer', async () => {
  const { create, context, world } = customersOf();
  const repeated = { key: 'k1', operation: 'POST /customers', fields: ada };
  const first = await create(ada, context(repeated));
  const events = world.store.log.length;
  assert.equal(await create(ada, context(repeated)), first);
  assert.is(world.store.log.length, events);
});

test('an update names its customer by id, by external id or by both', async () => {
  const { create, update } = customersOf();
  const { id } = await create(ada);
  assert.is((await update({ id }, { name: 'A1' })).name, 'A1');
  assert.is((await update({ external_customer_id: 'ext-ada' }, { name: 'A2' })).name, 'A2');
  assert.is((await update({ id, external_customer_id: 'ext-ada' }, { name: 'A3' })).name, 'A3');
});

test('an update with no id, or with ids that disagree, is refused', async () => {
  const { create, update } = customersOf();
  const { id } = await create(ada);
  await create(eve);
  const none = await rejection(update({}, {}));
  assert.equal([none.code, none.errors?.[0]?.pointer], ['validation_error', '/id']);
  const both = await rejection(update({ id, external_customer_id: 'ext-eve' }, {}));
  assert.equal(
    [both.code, both.errors?.[0]?.pointer],
    ['validation_error', '/external_customer_id'],
  );
});

test('unknown ids are 404 and name their field', async () => {
  const { update, get, getByExternalId, remove } = customersOf();
  const unknown = 'cust_01ARZ3NDEKTSV4RRFFQ69G5FAV';
  const fieldOf = async (answer: Promise<unknown>) => {
    const { code, details } = await rejection(answer);
    assert.is(code, 'not_found');
    return details?.field;
  };
  assert.is(await fieldOf(update({ id: unknown }, {})), 'id');
  assert.is(await fieldOf(update({ external_customer_id: 'x' }, {})), 'external_customer_id');
  assert.is(await fieldOf(get(unknown)), 'id');
  assert.is(await fieldOf(getByExternalId('x')), 'external_id');
  assert.is(await fieldOf(remove(unknown)), 'id');
});

test('a parent is named by either of its ids, on one level', async () => {
  const { create, update, remove, search } = customersOf();
  const parent = await create(ada);
  const child = await create({ ...eve, parent_customer_external_id: 'ext-ada' });
  assert.is(child.parent_customer_id, parent.id);
  assert.is(parent.parent_customer_id, undefined);
  const found = await search({ parent_customer_ids: [parent.id] });
  assert.equal(
    found.items.map(({ id }: { id: string }) => id),
    [child.id],
  );
  const other = await create({ name: 'Bob', external_id: 'ext-bob' });
  const refusalOf = async (id: string, body: object) => {
    const { code, errors, details } = await rejection(update({ id }, body));
    return [code, errors?.[0]?.pointer ?? details?.reason ?? details?.field];
  };
  // A child has no children, a customer with children no parent, and nobody is its own.
  assert.equal(await refusalOf(other.id, { parent_customer_id: child.id }), [
    'invalid_operation',
    'unsuitable',
  ]);
  assert.equal(await refusalOf(parent.id, { parent_customer_id: other.id }), [
    'invalid_operation',
    'unsuitable',
  ]);
  assert.equal(await refusalOf(other.id, { parent_customer_id: other.id }), [
    'validation_error',
    '/parent_customer_id',
  ]);
  assert.equal(
    await refusalOf(other.id, {
      parent_customer_id: parent.id,
      parent_customer_external_id: 'ext-bob',
    }),
    ['validation_error', '/parent_customer_external_id'],
  );
  assert.is((await refusalOf(other.id, { parent_customer_external_id: 'nobody' }))[0], 'not_found');
  assert.is((await refusalOf(other.id, { parent_customer_id: 'cust_none' }))[0], 'not_found');
  assert.is((await rejection(remove(parent.id))).details?.reason, 'in_use');
  const freed = await update({ id: child.id }, { parent_customer_id: null });
  assert.is(freed.parent_customer_id, undefined);
  assert.is(
    (await update({ id: other.id }, { parent_customer_id: child.id })).parent_customer_id,
    child.id,
  );
  await remove(parent.id);
  assert.equal(await refusalOf(child.id, { parent_customer_id: parent.id }), [
    'invalid_operation',
    'archived',
  ]);
});

test('a customer of another environment is not there', async () => {
  const { create, get, world } = customersOf();
  const { id } = await create(ada);
  const foreign = world.request(principalOf('env_02'));
  assert.is((await rejection(get(id, foreign))).code, 'not_found');
  const reference = customerReference(foreign, { external_customer_id: 'ext-ada' });
  assert.is((await rejection(reference)).code, 'not_found');
});

test('a deleted customer stays readable by id, leaves the lists and frees its external_id', async () => {
  const { create, remove, get, getByExternalId, search } = customersOf();
  const { id } = await create(ada);
  await remove(id);
  assert.is((await get(id)).status, 'archived');
  assert.is((await rejection(getByExternalId('ext-ada'))).code, 'not_found');
  assert.equal(await search({}), { items: [], pagination: { limit: 50, offset: 0, total: 0 } });
  const heir = await create(ada);
  assert.is((await getByExternalId('ext-ada')).id, heir.id);
});

test('a search takes ids, e-mail and metadata', async () => {
  const { create, search } = customersOf();
  const { id } = await create({ ...ada, email: 'ada@example.com', metadata: { tier: 'gold' } });
  await create({ ...eve, metadata: { tier: 'gold', region: 'eu' } });
  const namesOf = async (body: object) => (await search(body)).items.map(({ name }) => name).sort();
  assert.equal(await namesOf({}), ['Ada', 'Eve']);
  assert.equal(await namesOf({ customer_ids: [id] }), ['Ada']);
  assert.equal(
    pointersOf(customerSearchSchema, { customer_ids: [] }),
    ['/customer_ids'],
    'no ids are not all ids',
  );
  assert.equal(await namesOf({ external_ids: ['ext-eve', 'x'] }), ['Eve']);
  assert.equal(await namesOf({ external_id: 'ext-ada' }), ['Ada']);
  assert.equal(await namesOf({ email: 'ada@example.com' }), ['Ada']);
  assert.equal(await namesOf({ metadata: { tier: 'gold', region: 'eu' } }), ['Eve']);
});

test('a reference is the customer that its ids agree on', async () => {
  const { create, context } = customersOf();
  const { id } = await create(ada);
  const reference = (ids: object) => customerReference(context(), ids);
  assert.is((await reference({ customer_id: id })).id, id);
  assert.is((await reference({ external_customer_id: 'ext-ada' })).id, id);
  assert.is((await reference({ customer_id: id, external_customer_id: 'ext-ada' })).id, id);
  const none = await rejection(reference({}));
  assert.is(none.errors?.[0]?.pointer, '/customer_id');
  const unknown = await rejection(reference({ customer_id: 'cust_x' }));
  assert.equal([unknown.code, unknown.details?.field], ['not_found', 'customer_id']);
});

test.run();
