import type { AnyRoute } from '@counterfoil/engine/define';
import { invariant } from '@counterfoil/kernel';
import {
  callRoute,
  memoryWorld,
  published,
  reactTo,
  rejection,
  testPrincipal,
} from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { customer, customers } from '../customers/index.ts';
import { subscription } from '../subscriptions/index.ts';
import {
  associationSchema,
  taxAssociation,
  taxAssociationRecords,
  taxes,
  taxRate,
  taxRateRecords,
} from '../taxes/index.ts';
import { associationRoutes as routes } from './routes.ts';

const { publicEvents: taxAssociationPublicEvents } = taxAssociationRecords;
const { publicEvents: taxRatePublicEvents } = taxRateRecords;

const test = suite('tax routes');

/** A route of tax rates. */
function ofRates(key: keyof typeof taxes.routes): AnyRoute {
  const found = taxes.routes[key];
  invariant(found, `there is no ${key}`);
  return found;
}

/** A world with taxes and customers. */
function taxWorld() {
  const world = memoryWorld([customer, taxRate, taxAssociation, subscription]);
  const context = (environment?: string) => world.request(testPrincipal(environment));
  const ofCustomers = customers.routes;
  const on = (id: string, body: object = {}) => ({ params: { id }, body });
  const createCustomer = async (external_id: string, more: object = {}): Promise<string> => {
    const create = ofCustomers['POST /customers'];
    invariant(create, 'customers cannot be created');
    const body = { name: 'Ada', external_id, ...more };
    return ((await callRoute(create, context(), { body })) as { id: string }).id;
  };
  return {
    world,
    context,
    createCustomer,
    removeCustomer: async (id: string) => {
      const remove = ofCustomers['DELETE /customers/{id}'];
      invariant(remove, 'customers cannot be deleted');
      await callRoute(remove, context(), on(id));
    },
    createRate: (body: object = {}) =>
      callRoute(ofRates('POST /taxes/rates'), context(), {
        body: { name: 'VAT', code: 'VAT', percentage_value: '19', ...body },
      }),
    getRate: (id: string) => callRoute(ofRates('GET /taxes/rates/{id}'), context(), on(id)),
    updateRate: (id: string, body: object) =>
      callRoute(ofRates('PUT /taxes/rates/{id}'), context(), on(id, body)),
    removeRate: (id: string) => callRoute(ofRates('DELETE /taxes/rates/{id}'), context(), on(id)),
    listRates: (query: object) => callRoute(ofRates('GET /taxes/rates'), context(), { query }),
    attach: (body: object, within = context()) =>
      callRoute(routes['POST /taxes/associations'], within, {
        body: { tax_rate_code: 'vat', ...body },
      }),
    getAttached: (id: string) =>
      callRoute(routes['GET /taxes/associations/{id}'], context(), on(id)),
    updateAttached: (id: string, body: object) =>
      callRoute(routes['PUT /taxes/associations/{id}'], context(), on(id, body)),
    detach: (id: string) => callRoute(routes['DELETE /taxes/associations/{id}'], context(), on(id)),
    listAttached: (query: object) =>
      callRoute(routes['GET /taxes/associations'], context(), { query }),
  };
}

test('a rate is attached to the tenant or a customer, and shown there', async () => {
  const { createRate, attach, createCustomer, getAttached } = taxWorld();
  const rate = await createRate();
  const toTenant = await attach({ entity_type: 'tenant' });
  assert.equal([toTenant.entity_id, toTenant.tax_rate], ['tenant_01', rate]);
  assert.is((await rejection(attach({ entity_type: 'tenant' }))).code, 'already_exists');
  const id = await createCustomer('ada');
  const toCustomer = await attach({ external_customer_id: 'ada', priority: 3, auto_apply: false });
  assert.equal(
    [toCustomer.entity_type, toCustomer.entity_id, toCustomer.priority, toCustomer.auto_apply],
    ['customer', id, 3, false],
  );
  assert.equal(await getAttached(toCustomer.id), toCustomer);
  const again = await rejection(attach({ entity_type: 'customer', entity_id: id }));
  assert.is(again.code, 'already_exists');
  await attach({ entity_type: 'customer', entity_id: id, currency: 'EUR' });
});

test('what a request names and is not there is not found; what contradicts itself is refused', async () => {
  const { createRate, updateRate, attach, createCustomer, removeCustomer } = taxWorld();
  const rate = await createRate();
  const gone = await createCustomer('gone');
  await createCustomer('ada');
  await removeCustomer(gone);
  const refusal = async (body: object) => {
    const { code, details, errors } = await rejection(attach(body));
    return [code, errors?.[0]?.pointer ?? details?.field];
  };
  const missing = (field: string) => ['not_found', field];
  const wrong = (pointer: string) => ['validation_error', pointer];
  assert.equal(
    await refusal({ tax_rate_code: 'x', entity_type: 'tenant' }),
    missing('tax_rate_code'),
  );
  assert.equal(
    await refusal({ entity_type: 'tenant', entity_id: 'tenant_02' }),
    missing('entity_id'),
  );
  assert.equal(
    await refusal({ entity_type: 'customer', entity_id: 'cust_x' }),
    missing('entity_id'),
  );
  assert.equal(await refusal({ external_customer_id: 'x' }), missing('external_customer_id'));
  for (const entity_type of ['subscription', 'invoice']) {
    assert.equal(await refusal({ entity_type, entity_id: 'x' }), missing('entity_id'));
    assert.equal(await refusal({ entity_type }), wrong('/entity_id'));
  }
  assert.equal(await refusal({}), wrong('/entity_type'));
  assert.equal(await refusal({ entity_type: 'customer' }), wrong('/entity_id'));
  const external_customer_id = 'ada';
  assert.equal(
    await refusal({ entity_type: 'tenant', external_customer_id }),
    wrong('/external_customer_id'),
  );
  assert.equal(
    await refusal({ entity_id: gone, external_customer_id }),
    wrong('/external_customer_id'),
  );
  const archived = { entity_type: 'customer', entity_id: gone };
  assert.equal(await refusal(archived), ['invalid_operation', 'entity_id']);
  await updateRate(rate.id, { tax_rate_status: 'INACTIVE' });
  assert.equal(await refusal({ entity_type: 'tenant' }), ['invalid_operation', 'tax_rate_code']);
});

test('a rate is not deleted while it is attached; then its code is free', async () => {
  const { createRate, removeRate, getRate, attach, detach, getAttached } = taxWorld();
  const { id } = await createRate();
  assert.is((await rejection(createRate({ code: 'vat' }))).code, 'already_exists');
  const attached = await attach({ entity_type: 'tenant' });
  assert.match((await rejection(removeRate(id))).message, attached.id);
  assert.is((await detach(attached.id)).status, 'deleted');
  assert.is((await rejection(getAttached(attached.id))).code, 'not_found');
  await removeRate(id);
  await removeRate(id);
  assert.is((await getRate(id)).status, 'archived');
  assert.is.not((await createRate()).id, id);
});

test('an association can be made again after it was deleted', async () => {
  const { createRate, attach, detach } = taxWorld();
  await createRate();
  const first = await attach({ entity_type: 'tenant' });
  await detach(first.id);
  assert.is.not((await attach({ entity_type: 'tenant' })).id, first.id);
});

test('lists take what they are narrowed down by', async () => {
  const { createRate, listRates, attach, createCustomer, listAttached } = taxWorld();
  const rate = await createRate();
  await createRate({ name: 'City', code: 'CITY', scope: 'EXTERNAL' });
  const customerId = await createCustomer('ada');
  await attach({ entity_type: 'tenant' });
  await attach({ tax_rate_code: 'CITY', external_customer_id: 'ada' });
  const rates = async (query: object) =>
    ((await listRates(query)).items as { name: string }[]).map(({ name }) => name);
  assert.equal(await rates({}), ['City', 'VAT']);
  assert.equal(await rates({ scope: 'EXTERNAL' }), ['City']);
  assert.equal(await rates({ taxrate_codes: 'vat' }), ['VAT']);
  assert.equal(await rates({ taxrate_ids: rate.id }), ['VAT']);
  const attached = async (query: object) =>
    (await listAttached(query)).items.map(({ entity_type, tax_rate }) => [
      entity_type,
      tax_rate?.name,
    ]);
  assert.equal(await attached({}), [
    ['customer', 'City'],
    ['tenant', 'VAT'],
  ]);
  assert.equal(await attached({ tax_rate_id: rate.id }), [['tenant', 'VAT']]);
  assert.equal(await attached({ entity_type: 'customer' }), [['customer', 'City']]);
  assert.equal(await attached({ entity_id: customerId }), [['customer', 'City']]);
  assert.equal(await attached({ external_customer_id: 'ada' }), [['customer', 'City']]);
  assert.equal(await attached({ external_customer_id: 'nobody' }), []);
});

const euro = { tax_rate_code: 'vat', currency: 'EUR', priority: 2, auto_apply: false };
const dollar = { tax_rate_code: 'VAT', currency: 'usd', metadata: { a: 'b' } };

test('the tax rates that a new customer names are attached to it at once', async () => {
  const { createRate, createCustomer, listAttached, detach } = taxWorld();
  const rate = await createRate();
  const entity_id = await createCustomer('ada', { tax_rate_overrides: [euro, dollar] });
  const { items } = await listAttached({ entity_id });
  assert.equal(
    items.map(({ currency, priority, auto_apply, metadata, tax_rate }) => [
      ...[currency, priority, auto_apply, metadata, tax_rate?.id],
    ]),
    [
      ['usd', 0, true, { a: 'b' }, rate.id],
      ['eur', 2, false, {}, rate.id],
    ],
  );
  assert.is((await detach(items[0]?.id ?? '')).status, 'deleted');
  assert.is((await listAttached({ entity_id })).pagination.total, 1);
});

test('a customer whose tax rates cannot be attached is not created', async () => {
  const { createRate, updateRate, createCustomer, world } = taxWorld();
  const { id } = await createRate();
  const refusal = async (...tax_rate_overrides: object[]) => {
    const before = world.store.log.length;
    const failure = await rejection(createCustomer('ada', { tax_rate_overrides }));
    assert.is(world.store.log.length, before);
    return [failure.code, failure.details?.field ?? failure.errors?.[0]?.pointer];
  };
  const second = 'tax_rate_overrides.1.tax_rate_code';
  assert.equal(await refusal(euro, { ...dollar, tax_rate_code: 'x' }), ['not_found', second]);
  assert.equal(await refusal(euro, { ...euro, tax_rate_code: 'VAT' }), [
    'validation_error',
    '/tax_rate_overrides/1/tax_rate_code',
  ]);
  await updateRate(id, { tax_rate_status: 'INACTIVE' });
  assert.is((await refusal(euro))[0], 'invalid_operation');
});

test('tax rates that the request could not attach any more are attached once, by the reaction', async () => {
  const { createRate, removeRate, attach, createCustomer, listAttached, context, world } =
    taxWorld();
  await createRate();
  const city = await createRate({ code: 'CITY' });
  const isAssociation = (stream: string) => stream.startsWith('tax_association-');
  world.store.fate = (stream) => (isAssociation(stream) ? 'unavailable' : 'written');
  const tax_rate_overrides = [euro, dollar, { ...dollar, tax_rate_code: 'CITY' }];
  const entity_id = await createCustomer('ada', { tax_rate_overrides });
  assert.equal((await listAttached({ entity_id })).items, []);
  world.store.fate = () => 'written';
  await attach({ external_customer_id: 'ada', currency: 'EUR' });
  await removeRate(city.id);
  const [taxesOfCustomer] = customers.reactions ?? [];
  invariant(taxesOfCustomer, 'customers have no reaction');
  await reactTo(context(), taxesOfCustomer, entity_id);
  const attached = async () =>
    (await listAttached({ entity_id })).items.map(({ currency, tax_rate }) => [
      currency,
      tax_rate?.code,
    ]);
  const each = [
    ['usd', 'VAT'],
    ['eur', 'VAT'],
  ];
  assert.equal(await attached(), each);
  await reactTo(context(), taxesOfCustomer, entity_id);
  assert.equal(await attached(), each);
});

test('nothing of another environment can be named', async () => {
  const { createRate, attach, context } = taxWorld();
  await createRate();
  const foreign = await rejection(attach({ entity_type: 'tenant' }, context('env_02')));
  assert.equal([foreign.code, foreign.details?.field], ['not_found', 'tax_rate_code']);
});

test('each change is published under its name, with the whole record', async () => {
  const { createRate, updateRate, removeRate, attach, updateAttached, detach, context } =
    taxWorld();
  const { id } = await createRate();
  const attached = await attach({ entity_type: 'tenant' });
  await updateAttached(attached.id, { priority: 7 });
  await detach(attached.id);
  await updateRate(id, { name: 'Value added tax' });
  await removeRate(id);
  const ofRate = await published(context(), taxRatePublicEvents, taxRate, id);
  assert.equal(
    ofRate.map(({ type, body }) => [type, (body.tax_rate as { name: string }).name]),
    [
      ['tax_rate.created', 'VAT'],
      ['tax_rate.updated', 'Value added tax'],
      ['tax_rate.deleted', 'Value added tax'],
    ],
  );
  const seen = await published(context(), taxAssociationPublicEvents, taxAssociation, attached.id);
  assert.equal(
    seen.map(({ type, body }) => {
      const { priority, tax_rate } = associationSchema.parse(body.tax_association);
      return [type, priority, tax_rate?.name];
    }),
    [
      ['tax_association.created', 0, 'VAT'],
      ['tax_association.updated', 7, 'VAT'],
      ['tax_association.deleted', 7, 'VAT'],
    ],
  );
});

test.run();
