import { invariant } from '@counterfoil/kernel';
import { callRoute, memoryWorld, rejection, testPrincipal } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { customer, customers } from '../customers/index.ts';
import { priceUnit, pricingUnits } from '../pricing-units/index.ts';
import { walletRoutes } from './routes.ts';
import { wallet } from './wallet.ts';

const test = suite('wallets in a pricing unit');

/** A customer, a unit that is worth a hundredth of a euro, and ways to create wallets. */
async function worldWithUnit() {
  const world = memoryWorld([customer, wallet, priceUnit]);
  const context = () => world.request(testPrincipal());
  const createCustomer = customers.routes['POST /customers'];
  const units = pricingUnits.routes;
  const createUnit = units['POST /prices/units'];
  const deleteUnit = units['DELETE /prices/units/{id}'];
  invariant(createCustomer && createUnit && deleteUnit, 'a route is missing');
  await callRoute(createCustomer, context(), { body: { name: 'Ada', external_id: 'ada' } });
  const { id: unitId } = (await callRoute(createUnit, context(), {
    body: {
      code: 'CRD',
      name: 'Credits',
      symbol: 'cr',
      base_currency: 'eur',
      conversion_rate: '0.01',
    },
  })) as { id: string };
  return {
    context,
    unitId,
    removeUnit: () => callRoute(deleteUnit, context(), { params: { id: unitId } }),
    create: (body: object) =>
      callRoute(walletRoutes['POST /wallets'], context(), {
        body: { currency: 'usd', external_customer_id: 'ada', ...body },
      }),
  };
}

test('the unit gives currency and rates, whatever else the request says of them', async () => {
  const { create } = await worldWithUnit();
  const made = await create({
    price_unit: 'crd',
    conversion_rate: '7',
    initial_credits_to_load: 5,
  });
  assert.equal(
    [made.currency, made.conversion_rate, made.topup_conversion_rate, made.balance, made.name],
    ['eur', '0.01', '0.01', '0.05', 'Prepaid Wallet - EUR'],
  );
});

test('what a wallet may pay is what its creation says, else what its type has', async () => {
  const { create } = await worldWithUnit();
  const config = { allowed_price_types: ['FIXED'] };
  assert.equal((await create({ config })).config, config);
  const other = { wallet_type: 'POST_PAID' };
  assert.equal((await create(other)).config, { allowed_price_types: ['ALL'] });
});

test('a rate for top-ups of its own stays', async () => {
  const { create } = await worldWithUnit();
  const made = await create({ price_unit: 'CRD', topup_conversion_rate: '0.02' });
  assert.equal([made.conversion_rate, made.topup_conversion_rate], ['0.01', '0.02']);
});

test('the event keeps code, id and rate of the unit', async () => {
  const { create, context, unitId } = await worldWithUnit();
  const { id } = await create({ price_unit: 'crd' });
  for await (const { type, data } of context().history(wallet, id)) {
    assert.is(type, 'WalletCreated');
    const { price_unit } = data as { price_unit?: object };
    assert.equal(price_unit, { id: unitId, code: 'CRD', conversion_rate: '0.01' });
  }
});

test('a wallet in a currency keeps none', async () => {
  const { create, context } = await worldWithUnit();
  const { id } = await create({});
  for await (const { data } of context().history(wallet, id)) {
    assert.not('price_unit' in data);
  }
});

test('a unit that nobody has, or has no more, is not found', async () => {
  const { create, removeUnit } = await worldWithUnit();
  for (const price_unit of ['TOK', '', 'usd']) {
    const { code, details } = await rejection(create({ price_unit }));
    assert.equal([code, details?.field], ['not_found', 'price_unit']);
  }
  await removeUnit();
  assert.is((await rejection(create({ price_unit: 'CRD' }))).code, 'not_found');
});

test.run();
