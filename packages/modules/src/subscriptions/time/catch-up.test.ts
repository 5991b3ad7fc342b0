import { rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { takeDue } from '../decisions.ts';
import { subscription } from '../subscription.ts';
import { day, subscriptionWorld } from '../test-subscription-world.ts';
import { stepsMaximum } from './due.ts';

const test = suite('what time does to subscriptions');

const daily = { billing_period: 'DAILY', amount: '1' };

test('400 days are caught up in commands of bounded size, each period once and in order', async () => {
  const { create, request, world, settled, events, cancel, get } = await subscriptionWorld([daily]);
  const { id } = await create({ billing_period: 'DAILY' });
  const before = (await events(id)).length;
  world.now = day(2, 5, 2027);
  const refused = await rejection(cancel(id, { cancellation_type: 'end_of_period' }));
  assert.is(refused.code, 'service_unavailable');
  let commands = 0;
  for (let taken = 1; taken > 0; ) {
    const outcome = await request().execute(subscription, id, takeDue(id));
    taken = outcome.events.length;
    if (taken > 0) commands += 1;
    // A step has at most two events here.
    assert.ok(taken <= 2 * stepsMaximum);
  }
  // Each day closes, opens and is announced, the last of them not closed yet.
  assert.is(commands, Math.ceil((400 * 3) / stepsMaximum));
  const opened = (await settled(id)).map(({ period_index }) => period_index);
  assert.equal(opened, [...Array(401).keys()]);
  assert.is((await get(id)).current_period_start, day(2, 5, 2027));
  assert.ok((await events(id)).length > before);
  const again = await request().execute(subscription, id, takeDue(id));
  assert.equal(again.events, []);
  assert.is((await cancel(id, { cancellation_type: 'end_of_period' })).status, 'active');
});

test('a renewal is announced seven days before, or half a period, once, and not of what ends', async () => {
  const { create, pass, events, cancel, request } = await subscriptionWorld([
    {},
    { ...daily, billing_period: 'WEEKLY' },
  ]);
  const announced = async (id: string) => {
    const found: string[] = [];
    for await (const { type, data } of request().history(subscription, id)) {
      if (type === 'RenewalNoticed') found.push(data.at);
    }
    return found;
  };
  const monthly = await create();
  const weekly = await create({ billing_period: 'WEEKLY' });
  const ending = await create();
  await cancel(ending.id, { cancellation_type: 'end_of_period' });
  await pass(day(1, 24));
  assert.equal(await announced(monthly.id), []);
  await pass(day(1, 25));
  assert.equal(await announced(monthly.id), [day(1, 25)]);
  assert.equal((await announced(weekly.id)).slice(0, 2), [
    '2026-01-04T12:00:00.000Z',
    '2026-01-11T12:00:00.000Z',
  ]);
  await pass(day(2, 1));
  assert.equal(await announced(ending.id), []);
  const past = await create({ start_date: '2025-06-01T00:00:00Z' });
  assert.equal(await announced(past.id), [], 'none of a past that was not lived through');
  assert.ok((await events(past.id)).length > 10);
});

/** The sums of a year by instant: of what is closed at the end of each month and opened with the next. */
async function invoicesOf(prices: readonly object[], body: object = {}) {
  const { create, pass, settled } = await subscriptionWorld(prices);
  const { id } = await create(body);
  await pass(day(1, 2, 2027));
  const sums = new Map<string, number>();
  for (const { at, net_amount } of await settled(id)) {
    sums.set(at, (sums.get(at) ?? 0) + Number(net_amount));
  }
  return [...sums.values()];
}

const arrear = (billing_period: string, amount: string) => ({
  ...{ billing_period, amount },
  invoice_cadence: 'ARREAR',
});
const advance = (billing_period: string, amount: string) => ({ billing_period, amount });

test('lines with longer periods are charged when those begin or end', async () => {
  assert.equal(
    await invoicesOf([
      arrear('MONTHLY', '10'),
      arrear('QUARTERLY', '100'),
      arrear('HALF_YEARLY', '200'),
    ]),
    [10, 10, 110, 10, 10, 310, 10, 10, 110, 10, 10, 310],
  );
  assert.equal(
    await invoicesOf([
      arrear('MONTHLY', '50'),
      arrear('QUARTERLY', '300'),
      arrear('ANNUAL', '1200'),
    ]),
    [50, 50, 350, 50, 50, 350, 50, 50, 350, 50, 50, 1550],
  );
  assert.equal(
    await invoicesOf([
      advance('MONTHLY', '300'),
      advance('QUARTERLY', '400'),
      advance('ANNUAL', '500'),
    ]),
    [1200, 300, 300, 700, 300, 300, 700, 300, 300, 700, 300, 300, 1200],
  );
  assert.equal(
    await invoicesOf([arrear('QUARTERLY', '500'), arrear('ANNUAL', '5000')], {
      billing_period: 'QUARTERLY',
    }),
    [500, 500, 500, 5500],
  );
  const mixed = await invoicesOf([
    advance('MONTHLY', '20'),
    arrear('QUARTERLY', '150'),
    advance('ANNUAL', '2400'),
  ]);
  assert.equal([mixed[0], mixed[1], mixed[3], mixed[12]], [2420, 20, 170, 2570]);
});

test.run();
