import { invariant } from '@counterfoil/kernel';
import { callRoute, reactTo, rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { offers } from '../../offers/index.ts';
import { lineItemRoutes } from '../lines/routes.ts';
import { day, subscriptionWorld } from '../test-subscription-world.ts';
import { planSyncCarriedOut } from './carry-out.ts';
import { planSync } from './plan-sync.ts';
import { planSyncRoutes } from './routes.ts';

const test = suite('synchronisation of a plan');

/** A world with a subscription of 31 dollars a month, prorated, in the middle of January. */
const halfway = async (prices: readonly object[] = [{ amount: '31' }]) =>
  halfwayWith(await subscriptionWorld(prices));

async function halfwayWith(
  world: Awaited<ReturnType<typeof subscriptionWorld>>,
  body: object = {},
) {
  const made = await world.create({ proration_behavior: 'create_prorations', ...body });
  await world.pass(day(1, 16));
  const { planId, request } = world;
  const ofPlan = { params: { id: planId } };
  const found = (route: string) => {
    const handler = (offers.routes as Readonly<Record<string, unknown>>)[route];
    invariant(handler, `there is no ${route}`);
    return handler as never;
  };
  const ask = (key?: string) =>
    callRoute(planSyncRoutes['POST /plans/{id}/sync/subscriptions'], request('sync', key), ofPlan);
  const carryOut = async () => {
    const isRunning = async () => (await request().load(planSync, planId))?.state === 'running';
    while (await isRunning()) await reactTo(request(), planSyncCarriedOut, planId);
  };
  return {
    ...world,
    id: made.id,
    made,
    ask,
    carryOut,
    sync: async () => {
      await ask();
      await carryOut();
      return callRoute(planSyncRoutes['GET /plans/{id}/sync/subscriptions'], request(), ofPlan);
    },
    reprice: (id: string, amount: string, more: object = {}) =>
      callRoute(found('PUT /prices/{id}'), request(), {
        params: { id },
        body: { amount, ...more },
      }),
    endPrice: (id: string) =>
      callRoute(found('DELETE /prices/{id}'), request(), { params: { id }, body: {} }),
    addPrice: (more: object) =>
      world.call(offers.routes, 'POST /prices', {
        entity_type: 'PLAN',
        entity_id: planId,
        type: 'FIXED',
        billing_model: 'FLAT_FEE',
        billing_period: 'MONTHLY',
        invoice_cadence: 'ADVANCE',
        currency: 'usd',
        ...more,
      }),
    linesNow: async () =>
      (await world.get(made.id)).line_items.map(({ price, start_date, end_date }) => [
        price?.amount,
        start_date,
        end_date ?? null,
      ]),
  };
}

const counts = ({
  checked,
  changed,
  failed,
}: {
  checked: number;
  changed: number;
  failed: number;
}) => ({
  checked,
  changed,
  failed,
});

test('a price that was replaced is charged from the synchronisation on, and the rest of the old one is credited', async () => {
  const { priceIds, reprice, sync, linesNow, id, settled, pass } = await halfway();
  await reprice(priceIds[0] ?? '', '62');
  assert.equal(await linesNow(), [['31', day(1, 1), null]]);
  const done = await sync();
  assert.equal([done.state, counts(done)], ['completed', { checked: 1, changed: 1, failed: 0 }]);
  assert.equal(await linesNow(), [
    ['31', day(1, 1), day(1, 16)],
    ['62', day(1, 16), null],
  ]);
  const [, synced] = await settled(id);
  assert.equal(
    [synced?.reason, synced?.credit_amount, synced?.charge_amount],
    ['plan_synced', '16', '32'],
  );
  await pass(day(2, 1));
  const [, , february] = await settled(id);
  assert.is(february?.charge_amount, '62');
});

test('a second synchronisation changes nothing', async () => {
  const { priceIds, reprice, sync, events, id } = await halfway();
  await reprice(priceIds[0] ?? '', '62');
  await sync();
  const before = await events(id);
  assert.equal(counts(await sync()), { checked: 1, changed: 0, failed: 0 });
  assert.equal(await events(id), before);
});

test('a price that is new to the plan begins, one that has ended ends', async () => {
  const { priceIds, endPrice, addPrice, sync, linesNow, id, settled } = await halfway([
    { amount: '31' },
    { amount: '62' },
  ]);
  await endPrice(priceIds[1] ?? '');
  await addPrice({ amount: '93', start_date: day(1, 16) });
  await sync();
  assert.equal(await linesNow(), [
    ['31', day(1, 1), null],
    ['62', day(1, 1), day(1, 16)],
    ['93', day(1, 16), null],
  ]);
  const [, synced] = await settled(id);
  assert.equal([synced?.credit_amount, synced?.charge_amount], ['32', '48']);
});

test('a price that begins later gets a line that begins then', async () => {
  const { addPrice, sync, linesNow } = await halfway();
  await addPrice({ amount: '93', start_date: day(3, 5) });
  await sync();
  assert.equal(await linesNow(), [
    ['31', day(1, 1), null],
    ['93', day(3, 5), null],
  ]);
});

test('a price of the subscription itself stays as it is', async () => {
  const world = await subscriptionWorld([{ amount: '31' }]);
  const { priceIds } = world;
  const { sync, reprice, linesNow } = await halfwayWith(world, {
    override_line_items: [{ price_id: priceIds[0], amount: '15.50' }],
  });
  await reprice(priceIds[0] ?? '', '62');
  assert.equal(counts(await sync()), { checked: 1, changed: 0, failed: 0 });
  assert.equal(await linesNow(), [['15.5', day(1, 1), null]]);
});

test('a line that was taken out does not come back', async () => {
  const { made, request, sync, linesNow, reprice, priceIds } = await halfway([
    { amount: '31' },
    { amount: '62' },
  ]);
  const second = made.line_items.find(({ price }) => price?.amount === '62');
  await callRoute(lineItemRoutes['DELETE /subscriptions/lineitems/{id}'], request(), {
    params: { id: second?.id ?? '' },
    body: {},
  });
  await reprice(priceIds[1] ?? '', '70');
  await sync();
  assert.equal(await linesNow(), [
    ['31', day(1, 1), null],
    ['62', day(1, 1), day(1, 16)],
  ]);
});

test('what is charged once is not charged to those who are there', async () => {
  const { addPrice, sync } = await halfway();
  await addPrice({ amount: '500', billing_period: 'ONETIME' });
  assert.equal(counts(await sync()), { checked: 1, changed: 0, failed: 0 });
});

test('a subscription that the plan has no price for any more stays as it is, and is named', async () => {
  const { priceIds, endPrice, sync, id, linesNow } = await halfway();
  await endPrice(priceIds[0] ?? '');
  const done = await sync();
  assert.equal(counts(done), { checked: 1, changed: 0, failed: 1 });
  assert.is(done.failures[0]?.subscription_id, id);
  assert.match(done.failures[0]?.message ?? '', /has no price in usd/);
  assert.equal(await linesNow(), [['31', day(1, 1), null]]);
});

test('one that is cancelled or a draft is left alone', async () => {
  const { id, cancel, create, sync } = await halfway();
  await cancel(id, { cancellation_type: 'immediate' });
  await create({ subscription_status: 'draft' });
  assert.is((await sync()).checked, 0);
});

test('more subscriptions than one portion takes are all brought to it', async () => {
  const { create, priceIds, reprice, sync, search } = await halfway();
  for (let made = 0; made < 100; made += 1) await create();
  await reprice(priceIds[0] ?? '', '62');
  assert.equal(counts(await sync()), { checked: 101, changed: 101, failed: 0 });
  const { items } = await search({ limit: 1000 });
  const running = items.flatMap(({ line_items }) => line_items.filter(({ end_date }) => !end_date));
  const amounts = running.map(({ price }) => price?.amount);
  assert.equal([...new Set(amounts)], ['62']);
});

test('a second one is refused while one is running, a repetition of the first is not', async () => {
  const { ask, carryOut } = await halfway();
  const first = await ask('once');
  assert.equal(await ask('once'), first);
  const refused = await rejection(ask());
  assert.equal(
    [refused.code, refused.details],
    ['version_conflict', { workflow_id: first.workflow_id }],
  );
  await carryOut();
  assert.is.not((await ask()).workflow_id, first.workflow_id);
});

test('one that a period has ended in since then begins with the period that runs', async () => {
  const { ask, carryOut, priceIds, reprice, pass, linesNow } = await halfway();
  await reprice(priceIds[0] ?? '', '62');
  await ask();
  await pass(day(2, 10));
  await carryOut();
  assert.equal(await linesNow(), [
    ['31', day(1, 1), day(2, 1)],
    ['62', day(2, 1), null],
  ]);
});

test.run();
