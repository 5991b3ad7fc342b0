import { callRoute, memoryWorld, rejection, testPrincipal } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { group } from '../../groups/index.ts';
import { meter } from '../../meters/index.ts';
import { priceUnit } from '../../pricing-units/index.ts';
import { offer } from '../offer.ts';
import { offerRoutes } from '../routes.ts';
import { bringPrice } from './bring.ts';
import { createPriceSchema } from './schema.ts';

const test = suite('prices that are brought');

/** A plan to which prices are brought, each time in a request of its own. */
async function plan() {
  const world = memoryWorld([offer, meter, group, priceUnit]);
  const request = () => world.request(testPrincipal());
  const { id: entity_id } = await callRoute(offerRoutes()['POST /plans'], request(), {
    body: { name: 'Pro' },
  });
  const row = {
    ...{ entity_type: 'PLAN', entity_id, type: 'FIXED', billing_model: 'FLAT_FEE' },
    ...{ billing_period: 'MONTHLY', invoice_cadence: 'ADVANCE', currency: 'usd', amount: '10' },
    lookup_key: 'base',
  };
  return {
    world,
    bring: (changes: object = {}, mayUpdate = true) =>
      bringPrice(request(), createPriceSchema.parse({ ...row, ...changes }), mayUpdate),
    prices: async () => {
      const { prices = [] } = (await request().load(offer, entity_id)) ?? {};
      return prices.map(({ amount, display_name, start_date, end_date }) => [
        ...[amount, display_name, start_date.slice(0, 10), end_date?.slice(0, 10) ?? null],
      ]);
    },
  };
}

test('a price that is there as it is brought is done, whether it may be changed or not', async () => {
  const { bring, prices, world } = await plan();
  assert.is(await bring(), 'created');
  const before = world.store.log.length;
  for (const mayUpdate of [true, false]) assert.is(await bring({}, mayUpdate), 'unchanged');
  assert.equal([world.store.log.length, (await prices()).length], [before, 1]);
});

test('one with other contents is refused, unless it may be changed: labels in place, figures by another price', async () => {
  const { bring, prices, world } = await plan();
  await bring();
  assert.is((await rejection(bring({ amount: '12' }, false))).code, 'already_exists');
  assert.is(await bring({ display_name: 'Base' }), 'updated');
  assert.equal(await prices(), [['10', 'Base', '2026-01-01', null]]);
  world.now = '2026-02-01T00:00:00.000Z' as typeof world.now;
  // What is left out stays.
  assert.is(await bring({ amount: '12' }), 'updated');
  const changed = [
    ['10', 'Base', '2026-01-01', '2026-02-01'],
    ['12', 'Base', '2026-02-01', null],
  ];
  assert.equal(await prices(), changed);
  assert.is(await bring({ amount: '12' }), 'unchanged');
  assert.equal(await prices(), changed);
});

test('new figures begin where the row begins, and a row that is brought again changes nothing', async () => {
  const { bring, prices } = await plan();
  await bring();
  const march = { amount: '12', start_date: '2026-03-01T00:00:00.000Z' };
  for (const outcome of ['updated', 'unchanged']) assert.is(await bring(march), outcome);
  assert.equal(await prices(), [
    ['10', null, '2026-01-01', '2026-03-01'],
    ['12', null, '2026-03-01', null],
  ]);
});

test('what never changes is refused by its field', async () => {
  const { bring, prices } = await plan();
  await bring({ start_date: '2026-01-01T00:00:00.000Z' });
  const wrongs: [object, string][] = [
    [{ currency: 'eur' }, '/currency'],
    [{ billing_period: 'ANNUAL' }, '/billing_period'],
    [{ invoice_cadence: 'ARREAR' }, '/invoice_cadence'],
    [{ min_quantity: '3' }, '/min_quantity'],
    [{ trial_period_days: 7 }, '/trial_period_days'],
    [{ end_date: '2027-01-01T00:00:00.000Z' }, '/end_date'],
    [{ amount: '12', start_date: '2025-01-01T00:00:00.000Z' }, '/start_date'],
    [{ start_date: '2026-03-01T00:00:00.000Z' }, '/start_date'],
  ];
  for (const [changes, pointer] of wrongs) {
    const { code, errors } = await rejection(bring(changes));
    assert.equal([code, errors?.[0]?.pointer], ['validation_error', pointer]);
  }
  assert.is((await prices()).length, 1);
});

test('the key of another plan is taken, whatever may be changed', async () => {
  const one = await plan();
  await one.bring();
  const { id } = await callRoute(offerRoutes()['POST /plans'], one.world.request(testPrincipal()), {
    body: { name: 'Other' },
  });
  assert.is((await rejection(one.bring({ entity_id: id }))).code, 'already_exists');
});

test.run();
