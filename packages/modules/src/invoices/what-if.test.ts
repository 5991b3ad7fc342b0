import { rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { priceUnderPlan, whatIfAnswerSchema, whatIfSchema } from '../what-if/index.ts';
import { day, invoiceWorld } from './test-invoice-world.ts';

const test = suite('history under another plan');

/** Two months of a customer, which were billed, and another plan: 50 a month, and calls at three cents, none of them free. */
async function lived() {
  const world = await invoiceWorld();
  const { create, use, pass, post, meterId, readings, request, customerId } = world;
  await create();
  use(1300, day(1, 3));
  await pass(day(2, 1, 3));
  use(500, day(2, 3));
  await pass(day(3, 1, 3));
  const { id } = await post('/plans', { name: 'Other' });
  const price = {
    ...{ entity_type: 'PLAN', entity_id: id, currency: 'usd', billing_period: 'MONTHLY' },
    billing_model: 'FLAT_FEE',
  };
  await post('/prices', {
    ...price,
    ...{ type: 'FIXED', invoice_cadence: 'ADVANCE', amount: '50', display_name: 'Base' },
  });
  await post('/prices', {
    ...price,
    ...{ type: 'USAGE', invoice_cadence: 'ARREAR', amount: '0.03', display_name: 'Calls' },
    meter_id: meterId,
  });
  const ask = async (body: object, plan = id) => {
    const context = request();
    const asked = whatIfSchema.parse({
      ...{ start_time: day(1, 1), end_time: day(3, 1), currency: 'usd' },
      ...body,
    });
    const { moment } = await readings.atOnce(context);
    return whatIfAnswerSchema.parse(await priceUnderPlan(context, plan, asked, async () => moment));
  };
  return { ...world, ask, otherPlan: id, customerId };
}

test('usage as it was is rated by the plan, beside what was billed', async () => {
  const { ask, customerId, world } = await lived();
  const before = world.store.log.length;
  const shown = await ask({ customer_ids: [customerId] });
  assert.is(world.store.log.length, before);
  const [own] = shown.items;
  assert.equal(
    [own?.fixed, own?.usage, own?.would_be, own?.was, own?.difference],
    ['100', '54', '154', '230', '-76'],
  );
  assert.equal(
    own?.lines
      .map(({ display_name, quantity, amount }) => `${display_name} ${quantity} ${amount}`)
      .toSorted(),
    ['Base 2 100', 'Calls 1800 54'],
  );
  assert.equal([shown.would_be, shown.was, shown.pagination.total], ['154', '230', 1]);
});

test('the plan that was billed comes to what was billed', async () => {
  const { ask, customerId, planId } = await lived();
  const [own] = (await ask({ customer_ids: [customerId] }, planId)).items;
  assert.equal([own?.would_be, own?.was, own?.difference], ['230', '230', '0']);
});

test('those who are subscribed to a plan come page by page', async () => {
  const { ask, customerId, planId, otherPlan } = await lived();
  const first = await ask({ subscribed_to: planId, limit: 1 });
  assert.equal(
    first.items.map((each) => each.customer_id),
    [customerId],
  );
  const second = await ask({ subscribed_to: planId, limit: 1, offset: 1 });
  assert.equal([second.items, second.pagination.total, second.was], [[], 1, '0']);
  assert.is((await ask({ subscribed_to: otherPlan })).pagination.total, 0);
});

test('what cannot be priced is refused', async () => {
  const { ask, customerId } = await lived();
  const one = { customer_ids: [customerId] };
  assert.is((await rejection(ask(one, 'plan_none'))).code, 'not_found');
  assert.is((await ask({ customer_ids: ['cust_none'] })).pagination.total, 0);
  const pointerOf = async (body: object) =>
    (await rejection(ask({ ...one, ...body }))).errors?.[0]?.pointer;
  assert.is(await pointerOf({ end_time: day(1, 1) }), '/end_time');
  assert.is(await pointerOf({ end_time: day(9, 1) }), '/end_time');
  assert.is(await pointerOf({ start_time: '2024-01-01T00:00:00.000Z' }), '/end_time');
  assert.is((await rejection(ask({ ...one, currency: 'eur' }))).details?.reason, 'unsuitable');
  assert.not(
    whatIfSchema.safeParse({ start_time: day(1, 1), end_time: day(2, 1), currency: 'usd' }).success,
  );
});

test.run();
