// Parts of the day with commitments of their own: asked for, kept, shown, and handed to rating.
import type { Span } from '@counterfoil/kernel';
import { callRoute, rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { meters } from '../../meters/index.ts';
import { priceFieldsOf } from '../../offers/index.ts';
import { priceTermsOf } from '../../pricing/index.ts';
import { rate, type Usage } from '../../rating/index.ts';
import { lineItemRoutes } from '../lines/routes.ts';
import { subscription } from '../subscription.ts';
import { day, subscriptionWorld } from '../test-subscription-world.ts';
import { usedCommitment } from '../usage/held.ts';

const test = suite('parts of the day with commitments');

const clock = (hour: number, minute = 0) => ({ hour, minute });
/** From ten in the evening to six: 8 for each hour, or twice the price. */
const night = {
  ...{ start: clock(22), end: clock(6), commitment_type: 'amount', commitment_value: '8' },
  ...{ overage_factor: '2', true_up_enabled: true },
};

/** A world with a meter by the hour, and lines of three for a unit of it. */
async function bucketedWorld() {
  const world = await subscriptionWorld([{}]);
  const { id: meter_id } = await world.call(meters.routes, 'POST /meters', {
    ...{ name: 'Load', event_name: 'load', reset_usage: 'BILLING_PERIOD' },
    aggregation: { type: 'MAX', field: 'n', bucket_size: 'HOUR' },
  });
  const line = (more: object, meter = meter_id) => ({
    price: {
      ...{ type: 'USAGE', billing_model: 'FLAT_FEE', billing_period: 'MONTHLY' },
      ...{ invoice_cadence: 'ARREAR', price_unit_type: 'FIAT', amount: '3', meter_id: meter },
    },
    ...more,
  });
  const change = (id: string, body: object) =>
    callRoute(
      lineItemRoutes['PUT /subscriptions/lineitems/{id}'],
      world.request('change', crypto.randomUUID()),
      { params: { id }, body: body as never },
    );
  return { ...world, line, change };
}

const usageLine = (lines: readonly { readonly price_type: string; readonly id: string }[]) => {
  const found = lines.find(({ price_type }) => price_type === 'USAGE');
  assert.ok(found);
  return found;
};

test('a line keeps and shows them, with figures of their own', async () => {
  const { create, line, get } = await bucketedWorld();
  const noon = { ...night, start: clock(12), end: clock(13, 0), commitment_type: 'quantity' };
  const made = await create({
    line_items: [line({ commitment_time_buckets: [night, { ...noon, price: { amount: '5' } }] })],
  });
  const shown = usageLine((await get(made.id)).line_items) as (typeof made.line_items)[number];
  assert.equal(
    [shown.commitment_windowed, shown.commitment_type, shown.commitment_overage_factor],
    [true, undefined, undefined],
  );
  assert.equal(
    shown.commitment_time_buckets?.map((each) => [
      ...[each.start.hour, each.end.hour, each.commitment_type, each.commitment_value],
      ...[each.overage_factor, each.true_up_enabled, each.price?.amount],
    ]),
    [
      [12, 13, 'quantity', '8', '2', true, '5'],
      [22, 6, 'amount', '8', '2', true, undefined],
    ],
  );
});

test('usage is rated by the part of the day that its window is in', async () => {
  const { create, line, request } = await bucketedWorld();
  const terms = {
    commitment_amount: '3',
    commitment_overage_factor: '1',
    commitment_windowed: true,
  };
  const { id } = await create({
    line_items: [
      line({ ...terms, commitment_time_buckets: [{ ...night, price: { amount: '5' } }] }),
    ],
  });
  const state = await request().load(subscription, id);
  const held = state?.lines.find(({ commitment }) => commitment !== null);
  assert.ok(state && held);
  const period: Span = { start: day(1, 1), end: day(1, 2) };
  const context = { now: day(1, 3) } as never;
  const used = await usedCommitment(context, { state } as never, held, period, []);
  const usage: Usage = {
    metered_by: { meter_id: 'meter_1', aggregation: 'MAX', events: 2, position: '1' },
    kind: 'buckets',
    rhythm: { size: 'HOUR', zone: 'UTC' },
    buckets: [
      // 2 at 5 are 10, of which 2 are above 8 and cost twice; 2 at 3 are 6.
      { start: '2026-01-01T23:00:00.000Z' as never, group: '', quantity: '2' as never },
      { start: '2026-01-01T12:00:00.000Z' as never, group: '', quantity: '2' as never },
    ],
  };
  const rated = rate({
    ...{ kind: 'usage', currency: 'usd' as never, period, usage, allowance: null },
    terms: priceTermsOf(priceFieldsOf(held.price)),
    commitment: used?.gross ?? null,
  });
  // Seven more hours of the night are trued up at 8.
  assert.is(rated.amount, '74');
});

test('they are replaced together, and taken away', async () => {
  const { create, line, change } = await bucketedWorld();
  const made = await create({ line_items: [line({ commitment_time_buckets: [night] })] });
  const { id } = usageLine(made.line_items);
  const day_ = { ...night, start: clock(8), end: clock(18) };
  const next = await change(id, { commitment_time_buckets: [day_] });
  assert.equal(
    next.commitment_time_buckets?.map(({ start, end }) => [start.hour, end.hour]),
    [[8, 18]],
  );
  const kept = await change(next.id, { amount: '4' });
  assert.is(kept.commitment_time_buckets?.length, 1);
  const without = await change(kept.id, { commitment_time_buckets: [] });
  assert.equal([without.commitment_windowed, without.commitment_time_buckets], [false, undefined]);
});

for (const [name, bucket, pointer] of [
  ['a factor below one', { overage_factor: '0.5' }, '/0/overage_factor'],
  ['no length', { end: clock(22) }, '/0/end'],
  ['an end after midnight', { end: clock(24, 1) }, '/0/end'],
  ['another currency', { price: { amount: '5', currency: 'eur' } }, '/0/price/currency'],
  ['a part of a window', { end: clock(6, 30) }, ''],
] as const) {
  test(`${name} is refused`, async () => {
    const { create, line, change } = await bucketedWorld();
    const made = await create({ line_items: [line({ commitment_time_buckets: [night] })] });
    const buckets = { commitment_time_buckets: [{ ...night, ...bucket }] };
    const refused = await rejection(change(usageLine(made.line_items).id, buckets));
    assert.is(refused.errors?.[0]?.pointer, `/commitment_time_buckets${pointer}`);
    const again = await rejection(create({ line_items: [line(buckets)] }));
    if (pointer === '') assert.is(again.code, 'invalid_operation');
    else {
      assert.is(again.errors?.[0]?.pointer, `/line_items/0/commitment_time_buckets${pointer}`);
    }
  });
}

test('two of one window, a meter without windows, and what is no usage are refused', async () => {
  const { create, line, meterId } = await bucketedWorld();
  const both = { commitment_time_buckets: [night, { ...night, start: clock(5), end: clock(7) }] };
  assert.is((await rejection(create({ line_items: [line(both)] }))).code, 'invalid_operation');
  const one = { commitment_time_buckets: [night] };
  assert.is(
    (await rejection(create({ line_items: [line(one, meterId)] }))).code,
    'invalid_operation',
  );
  const narrow = { ...one, commitment_windowed: false };
  const refused = await rejection(create({ line_items: [line(narrow)] }));
  assert.is(refused.errors?.[0]?.pointer, '/line_items/0/commitment_windowed');
});

test.run();
