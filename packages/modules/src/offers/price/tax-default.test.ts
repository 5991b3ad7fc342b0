import { callRoute, memoryWorld, testPrincipal } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { changeSetting, setting } from '../../settings/index.ts';
import { offer } from '../offer.ts';
import { offerRoutes } from '../routes.ts';

const test = suite('the tax of prices that do not say where it is');

const routes = offerRoutes();

async function shop() {
  const world = memoryWorld([offer, setting]);
  const request = () => world.request(testPrincipal());
  const plan = await callRoute(routes['POST /plans'], request(), { body: { name: 'Pro' } });
  const price = {
    ...{ entity_type: 'PLAN', entity_id: plan.id, type: 'FIXED', billing_model: 'FLAT_FEE' },
    ...{ invoice_cadence: 'ADVANCE', billing_period: 'MONTHLY', currency: 'eur', amount: '10' },
  };
  return {
    make: (body: object = {}) =>
      callRoute(routes['POST /prices'], request(), { body: { ...price, ...body } }),
    makeMany: async () =>
      (await callRoute(routes['POST /prices/bulk'], request(), { body: { items: [price, price] } }))
        .items,
    get: (id: string) => callRoute(routes['GET /prices/{id}'], request(), { params: { id } }),
    set: (default_behavior: 'exclusive' | 'inclusive') =>
      request().execute(setting, 'tax_config', changeSetting('tax_config', { default_behavior })),
  };
}

test('unless anything is set it comes on top', async () => {
  const { make } = await shop();
  assert.is((await make()).tax_behavior, 'exclusive');
});

test('the setting says it for new prices; those that say it themselves, and older ones, stay as they are', async () => {
  const { make, makeMany, get, set } = await shop();
  const before = await make();
  await set('inclusive');
  assert.is((await make()).tax_behavior, 'inclusive');
  assert.equal(
    (await makeMany()).map(({ tax_behavior }) => tax_behavior),
    ['inclusive', 'inclusive'],
  );
  assert.is((await make({ tax_behavior: 'exclusive' })).tax_behavior, 'exclusive');
  assert.is((await get(before.id)).tax_behavior, 'exclusive');
  await set('exclusive');
  assert.is((await make({ tax_behavior: 'inclusive' })).tax_behavior, 'inclusive');
});

test.run();
