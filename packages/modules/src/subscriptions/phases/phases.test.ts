// Phases: parts of the life of a subscription, each with lines and entitlements of its own.
import { callRoute, published, rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { couponRedemptions, coupons } from '../../coupons/index.ts';
import { features } from '../../features/index.ts';
import { offers } from '../../offers/index.ts';
import { lineItemRoutes } from '../lines/routes.ts';
import { modificationRoutes } from '../modify/routes.ts';
import { subscriptionPublicEvents } from '../public-events.ts';
import { subscriptionRoutes } from '../routes.ts';
import { subscription } from '../subscription.ts';
import { day, subscriptionWorld } from '../test-subscription-world.ts';
import { phaseRoutes } from './routes.ts';

const test = suite('phases of subscriptions');

const prorated = { proration_behavior: 'create_prorations' } as const;

/** Amounts of all settlements in their order, each with its day. */
const charges = (settlements: readonly { at: string; net_amount: string }[]) =>
  settlements.map(({ at, net_amount }) => [at.slice(0, 10), net_amount]);

test('each phase has the lines of the plan at its own terms', async () => {
  const { create, priceIds, pass, settled, get, events } = await subscriptionWorld([
    { amount: '31' },
  ]);
  const [price_id] = priceIds;
  const { id, phases, line_items, end_date } = await create({
    ...prorated,
    phases: [
      {
        start_date: day(1, 1),
        end_date: day(2, 1),
        override_line_items: [{ price_id, amount: '0' }],
      },
      {
        start_date: day(2, 1),
        end_date: day(4, 11),
        metadata: { offer: 'half' },
        override_line_items: [{ price_id, amount: '15.5' }],
      },
      { start_date: day(4, 11), end_date: day(6, 1) },
    ],
  });
  assert.equal(
    phases.map(({ start_date, end_date: end }) => [start_date, end]),
    [
      [day(1, 1), day(2, 1)],
      [day(2, 1), day(4, 11)],
      [day(4, 11), day(6, 1)],
    ],
  );
  assert.equal(phases[1]?.metadata, { offer: 'half' });
  assert.is(end_date, day(6, 1));
  assert.equal(
    line_items.map(({ subscription_phase_id, start_date }) => [subscription_phase_id, start_date]),
    phases.map(({ id: phase, start_date }) => [phase, start_date]),
  );
  await pass(day(7, 1));
  assert.equal(charges(await settled(id)), [
    ['2026-01-01', '0'],
    ['2026-02-01', '15.5'],
    ['2026-03-01', '15.5'],
    // 15.50 × 10 ÷ 30 + 31 × 20 ÷ 30 = 5.17 + 20.67.
    ['2026-04-01', '25.84'],
    ['2026-05-01', '31'],
  ]);
  assert.is((await get(id)).subscription_status, 'cancelled');
  assert.equal((await events(id)).filter((type) => type === 'PhaseBegun').length, 2);
});

test('lines beside the plan last as long as their phase, or as the subscription', async () => {
  const { create } = await subscriptionWorld();
  const price = {
    ...{ type: 'FIXED', billing_model: 'FLAT_FEE', billing_period: 'MONTHLY' },
    ...{ invoice_cadence: 'ADVANCE', price_unit_type: 'FIAT', amount: '5' },
  };
  const line = (display_name: string, more: object = {}) => ({ price, display_name, ...more });
  const made = await create({
    line_items: [line('always')],
    phases: [
      { start_date: day(1, 1), end_date: day(3, 1), line_items: [line('first')] },
      { start_date: day(3, 1), line_items: [line('second', { end_date: day(4, 1) })] },
    ],
  });
  assert.equal(
    made.line_items
      .filter(({ entity_type }) => entity_type === 'subscription')
      .map(({ display_name, start_date, end_date }) => [display_name, start_date, end_date]),
    [
      ['first', day(1, 1), day(3, 1)],
      ['second', day(3, 1), day(4, 1)],
      ['always', day(1, 1), undefined],
    ],
  );
  const late = [
    {
      start_date: day(1, 1),
      end_date: day(3, 1),
      line_items: [line('late', { end_date: day(3, 2) })],
    },
  ];
  const refused = await rejection(create({ phases: late }));
  assert.is(refused.errors?.[0]?.pointer, '/phases/0/line_items/0/end_date');
});

test('phases stand in for entitlements while they last', async () => {
  const { create, call, planId, request, meterId, pass } = await subscriptionWorld();
  const { id: feature_id } = await call(features.routes, 'POST /features', {
    ...{ name: 'Calls', type: 'metered', meter_id: meterId },
  });
  const { id: entitlement_id } = await call(offers.routes ?? {}, 'POST /entitlements', {
    ...{ plan_id: planId, feature_id, feature_type: 'metered' },
    ...{ usage_limit: 100, usage_reset_period: 'MONTHLY' },
  });
  const { id } = await create({
    override_entitlements: [{ entitlement_id, usage_limit: 200 }],
    phases: [
      {
        start_date: day(1, 1),
        end_date: day(2, 1),
        override_entitlements: [{ entitlement_id, usage_limit: 10 }],
      },
      { start_date: day(2, 1), end_date: day(3, 1) },
      { start_date: day(3, 1), override_entitlements: [{ entitlement_id, usage_limit: 30 }] },
    ],
  });
  const at = async (as_of?: string) => {
    const route = subscriptionRoutes['GET /subscriptions/{id}/entitlements'];
    const { features: found } = await callRoute(route, request(), {
      params: { id },
      query: as_of ? { as_of } : {},
    });
    return [found[0]?.entitlement.usage_limit, found[0]?.sources.map(({ reason }) => reason)];
  };
  assert.equal(await at(), [10, ['phase']]);
  const seen = async () => {
    assert.equal(await at('2026-01-31T23:59:59Z'), [10, ['phase']]);
    assert.equal(await at(day(2, 1)), [200, ['override']]);
    assert.equal(await at(day(3, 1)), [30, ['phase']]);
  };
  await seen();
  await pass(day(3, 15));
  await seen();
  assert.equal(await at(), [30, ['phase']]);
});

test('a pause moves what is to come, and the lines with it', async () => {
  const { create, pause, resume, pass, get } = await subscriptionWorld();
  const { id } = await create({
    phases: [{ start_date: day(1, 1), end_date: day(2, 11) }, { start_date: day(2, 11) }],
  });
  await pass(day(1, 11));
  await pause(id);
  await pass(day(1, 16));
  await resume(id);
  const shown = await get(id);
  assert.equal(
    shown.phases.map(({ start_date, end_date }) => [start_date, end_date]),
    [
      [day(1, 1), day(2, 16)],
      [day(2, 16), undefined],
    ],
  );
  assert.equal(
    shown.line_items.map(({ start_date, end_date }) => [start_date, end_date]),
    [
      [day(1, 1), day(2, 16)],
      [day(2, 16), undefined],
    ],
  );
});

const [one, two, three] = [day(1, 1), day(2, 1), day(3, 1)];

for (const [name, body, pointer] of [
  [
    'that begins at another instant',
    { start_date: two, phases: [{ start_date: one }] },
    '/phases/0/start_date',
  ],
  [
    'after one without an end',
    { phases: [{ start_date: one }, { start_date: two }] },
    '/phases/0/end_date',
  ],
  [
    'with a gap',
    { phases: [{ start_date: one, end_date: two }, { start_date: three }] },
    '/phases/1/start_date',
  ],
  [
    'that ends before it begins',
    { phases: [{ start_date: two, end_date: one }] },
    '/phases/0/end_date',
  ],
  [
    'that ends before the subscription',
    { end_date: three, phases: [{ start_date: one, end_date: two }] },
    '/phases/0/end_date',
  ],
  [
    'in a trial',
    { trial_period_days: 40, phases: [{ start_date: one, end_date: two }, { start_date: two }] },
    '/phases/1/start_date',
  ],
] as const) {
  test(`a phase ${name} is refused`, async () => {
    const { create } = await subscriptionWorld();
    const refused = await rejection(create(body));
    assert.equal([refused.code, refused.errors?.[0]?.pointer], ['validation_error', pointer]);
  });
}

test('a draft has none', async () => {
  const { create } = await subscriptionWorld();
  const body = { subscription_status: 'draft', phases: [{ start_date: day(1, 1) }] };
  assert.is((await rejection(create(body))).code, 'invalid_operation');
});

/** A world with a subscription of 31 a month, prorated, in the middle of January, and acts on its phases. */
async function phasing(body: object = {}) {
  const world = await subscriptionWorld([{ amount: '31' }]);
  const { id } = await world.create({ ...prorated, ...body });
  await world.pass(day(1, 16));
  const request = () => world.request('act', crypto.randomUUID());
  return {
    ...world,
    id,
    price_id: world.priceIds[0],
    add: (phase: object) =>
      callRoute(phaseRoutes['POST /subscriptions/{id}/phases'], request(), {
        params: { id },
        body: phase as never,
      }),
    list: () =>
      callRoute(phaseRoutes['GET /subscriptions/{id}/phases'], request(), { params: { id } }),
    note: (phase: string, metadata: object) =>
      callRoute(phaseRoutes['PUT /subscriptions/phases/{id}'], request(), {
        params: { id: phase },
        body: { metadata } as never,
      }),
    remove: (phase: string) =>
      callRoute(phaseRoutes['DELETE /subscriptions/phases/{id}'], request(), {
        params: { id: phase },
      }),
    /** The lines that run or are to come, with their prices. */
    lined: async () =>
      (await world.get(id)).line_items
        .filter(({ start_date, end_date }) => start_date !== end_date)
        .map(({ price, start_date, end_date }) => [price.amount, start_date, end_date]),
  };
}

test('a phase is added: the lines of the plan end with its beginning, and the period is settled', async () => {
  const { add, id, price_id, lined, pass, settled, get } = await phasing();
  const next = { start_date: day(1, 25), override_line_items: [{ price_id, amount: '62' }] };
  const added = await add(next);
  // 7 of 31 days: 7 are credited, and 14 charged.
  assert.equal(
    [added.settlement.credit_amount, added.settlement.charge_amount, added.start_date],
    ['7', '14', day(1, 25)],
  );
  assert.equal(await lined(), [
    ['31', day(1, 1), day(1, 25)],
    ['62', day(1, 25), undefined],
  ]);
  const last = await add({ start_date: day(3, 1), end_date: day(4, 1) });
  assert.equal(last.settlement.lines, []);
  assert.is((await get(id)).end_date, day(4, 1));
  assert.equal(
    (await get(id)).phases.map(({ start_date, end_date }) => [start_date, end_date]),
    [
      [day(1, 25), day(3, 1)],
      [day(3, 1), day(4, 1)],
    ],
  );
  await pass(day(5, 1));
  assert.equal(charges(await settled(id)), [
    ['2026-01-01', '31'],
    ['2026-01-16', '7'],
    ['2026-02-01', '62'],
    ['2026-03-01', '31'],
  ]);
  assert.is((await get(id)).subscription_status, 'cancelled');
});

test('a phase that is given up leaves all as it would be without', async () => {
  const { add, remove, price_id, lined, list, pass, id, settled } = await phasing();
  const next = { start_date: day(1, 25), override_line_items: [{ price_id, amount: '62' }] };
  const { id: phase } = await add(next);
  const removed = await remove(phase);
  assert.equal(
    [removed.status, removed.settlement.credit_amount, removed.settlement.charge_amount],
    ['deleted', '14', '7'],
  );
  assert.equal(await lined(), [
    ['31', day(1, 1), day(1, 25)],
    ['31', day(1, 25), undefined],
  ]);
  assert.equal((await list()).items, []);
  await pass(day(2, 1));
  assert.equal((await settled(id)).at(-1)?.charge_amount, '31');
});

test('one in the middle is given up, and what was before it goes on until the next', async () => {
  const { remove, list, id, get } = await phasing();
  assert.equal((await list()).total, 0);
  const { phases } = await get(id);
  assert.equal(phases, []);
  const other = await phasing({
    phases: [
      { start_date: day(1, 1), end_date: day(2, 1) },
      { start_date: day(2, 1), end_date: day(3, 1) },
      { start_date: day(3, 1) },
    ],
  });
  const [first, second] = (await other.list()).items;
  assert.is((await rejection(other.remove(first?.id ?? ''))).details?.reason, 'ended');
  await other.remove(second?.id ?? '');
  assert.equal(
    (await other.list()).items.map(({ start_date, end_date }) => [start_date, end_date]),
    [
      [day(1, 1), day(3, 1)],
      [day(3, 1), undefined],
    ],
  );
  assert.equal(await other.lined(), [
    ['31', day(1, 1), day(2, 1)],
    ['31', day(3, 1), undefined],
    ['31', day(2, 1), day(3, 1)],
  ]);
  assert.is((await rejection(remove('phase_none'))).code, 'not_found');
});

test('phases are told as they are agreed on, change and are given up', async () => {
  const { add, note, remove, request, id } = await phasing({
    phases: [{ start_date: day(1, 1) }],
  });
  const { id: phase } = await add({ start_date: day(2, 1) });
  const noted = await note(phase, { a: 'b' });
  assert.equal(noted.metadata, { a: 'b' });
  await remove(phase);
  const told = await published(request(), subscriptionPublicEvents, subscription, id);
  assert.equal(
    told
      .filter(({ type }) => type.startsWith('subscription.phase.'))
      .map(({ type, body }) => [
        type,
        (body as { phase: { start_date: string } }).phase.start_date,
      ]),
    [
      ['subscription.phase.created', day(1, 1)],
      ['subscription.phase.created', day(2, 1)],
      ['subscription.phase.updated', day(2, 1)],
      ['subscription.phase.deleted', day(2, 1)],
    ],
  );
});

for (const [name, terms, phase, pointer] of [
  ['in the past', {}, { start_date: day(1, 16) }, '/start_date'],
  ['after the end', { end_date: day(3, 1) }, { start_date: day(3, 2) }, '/start_date'],
  [
    'with another end',
    { end_date: day(3, 1) },
    { start_date: day(2, 1), end_date: day(2, 20) },
    '/end_date',
  ],
  ['in the trial', { trial_period_days: 40 }, { start_date: day(2, 1) }, '/start_date'],
] as const) {
  test(`a phase ${name} is not added`, async () => {
    const { add } = await phasing(terms);
    const refused = await rejection(add(phase));
    assert.equal([refused.code, refused.errors?.[0]?.pointer], ['validation_error', pointer]);
  });
}

test('a line is added to a phase, and lies in it', async () => {
  const { create, request, get } = await subscriptionWorld();
  const made = await create({
    phases: [
      { start_date: day(1, 1), end_date: day(3, 1) },
      { start_date: day(3, 1), end_date: day(6, 1) },
    ],
  });
  const [first, second] = made.phases.map(({ id }) => id);
  const price = {
    ...{ type: 'FIXED', billing_model: 'FLAT_FEE', billing_period: 'MONTHLY' },
    ...{ invoice_cadence: 'ADVANCE', price_unit_type: 'FIAT', amount: '5' },
  };
  const add = (body: object) =>
    callRoute(
      lineItemRoutes['POST /subscriptions/{id}/lineitems'],
      request('add', crypto.randomUUID()),
      { params: { id: made.id }, body: { price, ...body } as never },
    );
  const now = await add({ subscription_phase_id: first });
  const later = await add({ subscription_phase_id: second, end_date: day(4, 1) });
  assert.equal(
    [now, later].map((line) => [line.subscription_phase_id, line.start_date, line.end_date]),
    [
      [first, day(1, 1), day(3, 1)],
      [second, day(3, 1), day(4, 1)],
    ],
  );
  for (const [body, pointer] of [
    [{ subscription_phase_id: 'phase_x' }, '/subscription_phase_id'],
    [{ subscription_phase_id: first, start_date: day(3, 1) }, '/start_date'],
    [{ subscription_phase_id: second, start_date: day(2, 1) }, '/start_date'],
    [{ subscription_phase_id: first, end_date: day(3, 2) }, '/end_date'],
  ] as const) {
    assert.is((await rejection(add(body))).errors?.[0]?.pointer, pointer);
  }
  assert.is((await get(made.id)).line_items.length, made.line_items.length + 2);
  // It is given up with its phase.
  const remove = phaseRoutes['DELETE /subscriptions/phases/{id}'];
  await callRoute(remove, request('remove', 'one'), { params: { id: second ?? '' } });
  const left = (await get(made.id)).line_items.find(({ id }) => id === later.id);
  assert.is(left?.end_date, left?.start_date);
});

test('a phase is previewed, as it comes and as it is given up', async () => {
  const { create, request, pass, get, settled } = await subscriptionWorld([{ amount: '31' }]);
  const { id } = await create({ proration_behavior: 'create_prorations' });
  const modified = (way: 'preview' | 'execute', type: string, params: object, more: object = {}) =>
    callRoute(
      modificationRoutes[`POST /subscriptions/{id}/modify/${way}`],
      request('modify', crypto.randomUUID()),
      { params: { id }, body: { type, [`${type}_params`]: params, ...more } as never },
    );
  await pass(day(1, 11));
  const [line] = (await get(id)).line_items;
  const override_line_items = [{ price_id: line?.price_id ?? '', amount: '62' }];
  const phase = { start_date: day(1, 25), override_line_items };
  const seen = await modified('preview', 'add_phase', phase);
  // 7 of 31 days: 7 are credited, 14 charged.
  assert.equal(
    [seen.settlement.credit_amount, seen.settlement.charge_amount, (await get(id)).phases],
    ['7', '14', []],
  );
  const done = await modified('execute', 'add_phase', phase, { quote_id: seen.quote_id });
  assert.equal(done.settlement.net_amount, seen.settlement.net_amount);
  const [{ id: phaseId } = { id: '' }] = done.subscription.phases;
  const back = await modified('preview', 'remove_phase', { id: phaseId });
  assert.equal([back.settlement.credit_amount, back.settlement.charge_amount], ['14', '7']);
  await modified('execute', 'remove_phase', { id: phaseId }, { quote_id: back.quote_id });
  assert.equal([(await get(id)).phases, (await settled(id)).length], [[], 3]);
});

test('coupons of a phase that comes later are redeemed with it, and end with it where it is given up', async () => {
  const { create, call, request, get, priceIds } = await subscriptionWorld();
  const ten = { name: 'Ten', type: 'percentage', percentage_off: '10', cadence: 'once' };
  const one = { ...ten, coupon_code: 'ONE', max_redemptions: 1 };
  const { id: coupon } = await call(coupons.routes, 'POST /coupons', one);
  const [{ id }, other] = [await create(), await create()];
  const phase = {
    start_date: day(3, 1),
    subscription_coupons: [{ coupon_code: 'one' }],
    line_item_coupons: { [priceIds[0] ?? '']: [coupon] },
  };
  const add = (of: string, body: object) =>
    callRoute(phaseRoutes['POST /subscriptions/{id}/phases'], request('add', crypto.randomUUID()), {
      params: { id: of },
      body: body as never,
    });
  const early = [{ coupon_code: 'one', start_date: day(2, 1) }];
  const refused = await rejection(add(id, { ...phase, subscription_coupons: early }));
  assert.is(refused.errors?.[0]?.pointer, '/subscription_coupons/0/coupon_code');
  assert.is(await request().load(couponRedemptions, coupon), null);
  const made = await add(id, phase);
  const shown = await get(id);
  const line = shown.line_items.find((each) => each.subscription_phase_id === made.id)?.id;
  assert.equal(
    shown.coupon_associations.map((each) => [
      each.subscription_phase_id,
      each.subscription_line_item_id,
      each.start_date,
    ]),
    [
      [made.id, line, day(3, 1)],
      [made.id, undefined, day(3, 1)],
    ],
  );
  assert.is((await request().load(couponRedemptions, coupon))?.total, 1);
  assert.is((await rejection(add(other.id, phase))).details?.reason, 'limit_reached');
  const remove = phaseRoutes['DELETE /subscriptions/phases/{id}'];
  await callRoute(remove, request('remove', 'one'), { params: { id: made.id } });
  assert.equal(
    (await get(id)).coupon_associations.map(({ end_date }) => end_date),
    [day(3, 1), day(3, 1)],
  );
});

test.run();
