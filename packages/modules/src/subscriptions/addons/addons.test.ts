import type { Instant } from '@counterfoil/kernel';
import { callRoute, rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { features } from '../../features/index.ts';
import { offers } from '../../offers/index.ts';
import { entitlementsAt, grantsOf } from '../entitlements/grants.ts';
import { grantRoutes } from '../grants/routes.ts';
import { modificationRoutes } from '../modify/routes.ts';
import { subscription } from '../subscription.ts';
import { day, subscriptionWorld } from '../test-subscription-world.ts';
import { addonAssociationRoutes as routes } from './routes.ts';

const test = suite('add-ons of subscriptions');

/** A world with a plan of 31 dollars a month, an add-on of 62, and a subscription of January. */
async function selling(body: object = {}, prices: readonly object[] = [{ amount: '62' }]) {
  const world = await subscriptionWorld([{ amount: '31' }]);
  const { call, request, planId, meterId } = world;
  const addon = await call(offers.routes ?? {}, 'POST /addons', { name: 'More', lookup_key: 'm' });
  const ids: string[] = [];
  for (const price of prices) {
    const made = await call(offers.routes ?? {}, 'POST /prices', {
      ...{ entity_type: 'ADDON', entity_id: addon.id, type: 'FIXED', billing_model: 'FLAT_FEE' },
      ...{ billing_period: 'MONTHLY', invoice_cadence: 'ADVANCE', currency: 'usd' },
      ...{ start_date: '2020-01-01T00:00:00Z', ...price },
    });
    ids.push(made.id);
  }
  const feature = await call(features.routes, 'POST /features', {
    ...{ name: 'Calls', type: 'metered', meter_id: meterId },
  });
  const limit = (owner: object, usage_limit: number, more: object = {}) =>
    call(offers.routes ?? {}, 'POST /entitlements', {
      ...{ feature_id: feature.id, feature_type: 'metered', usage_limit, ...owner, ...more },
    });
  await limit({ plan_id: planId }, 100);
  await limit({ entity_type: 'ADDON', entity_id: addon.id }, 50);
  const made = await world.create({ proration_behavior: 'create_prorations', ...body });
  const { id } = made;
  return {
    ...world,
    id,
    made,
    limit,
    addonId: addon.id,
    addonPrices: ids,
    featureId: feature.id,
    attach: (more: object = {}, key?: string) =>
      callRoute(routes['POST /subscriptions/addon'], request('attach', key), {
        body: { subscription_id: id, addon_id: addon.id, ...more },
      }),
    remove: (association: string, more: object = {}, key?: string) =>
      callRoute(routes['DELETE /subscriptions/addon'], request('remove', key), {
        body: { addon_association_id: association, ...more },
      }),
    associations: (of = id) =>
      callRoute(routes['GET /subscriptions/{id}/addons/associations'], request(), {
        params: { id: of },
      }),
    modify: (verb: 'preview' | 'execute', change: object) =>
      callRoute(
        modificationRoutes[`POST /subscriptions/{id}/modify/${verb}`],
        request(`modify ${verb}`),
        { params: { id }, body: change },
      ),
    /** The limits that it has now, each with the kind of its source. */
    limits: async (of = id) => {
      const state = await request().load(subscription, of);
      assert.ok(state);
      return entitlementsAt(state, world.world.now).map(
        ({ entity_type, usage_limit }) => `${entity_type} ${usage_limit}`,
      );
    },
    amounts: async () => {
      const all = (await world.settled(id)).slice(1);
      return all.map(
        ({ reason, charge_amount, credit_amount }) =>
          `${reason} ${charge_amount} − ${credit_amount}`,
      );
    },
  };
}

test('an add-on is charged for the rest of the period, and whole from the next one on', async () => {
  const { attach, pass, amounts, lines, id, limits, associations } = await selling();
  await pass(day(1, 16));
  const attached = await attach({ metadata: { by: 'ada' } });
  assert.is(attached.settlement.charge_amount, '32');
  assert.is(attached.addon_status, 'active');
  assert.is(attached.start_date, day(1, 16));
  assert.is(attached.end_date, undefined);
  const { items } = await lines({ addon_association_ids: [attached.id] });
  assert.is(items.length, 1);
  assert.is(items[0]?.entity_type, 'addon');
  assert.equal(await limits(), ['PLAN 100', 'ADDON 50']);
  await pass(day(2, 2));
  assert.equal((await amounts()).slice(0, 2), ['addon_added 32 − 0', 'period_opened 93 − 0']);
  const [listed] = await associations();
  assert.is(listed?.addon?.name, 'More');
  assert.equal([listed?.entity_id, listed?.subscription?.id], [id, id]);
  assert.equal(listed?.metadata, { by: 'ada' });
});

test('one that is sold once ends with the period, and nothing of it is credited', async () => {
  const { attach, remove, pass, amounts, limits, associations, cancel, id } = await selling();
  await pass(day(1, 16));
  const { id: association, end_date } = await attach({ cadence: 'onetime' });
  assert.is(end_date, day(2, 1));
  await remove(association, {
    effective_date: day(1, 20),
    proration_behavior: 'create_prorations',
  });
  await attach({ cadence: 'onetime', proration_behavior: 'none' });
  await pass(day(1, 25));
  assert.equal(await limits(), ['PLAN 100', 'ADDON 50']);
  await pass(day(2, 1));
  assert.equal(await limits(), ['PLAN 100']);
  assert.equal(await associations(), []);
  await pass(day(2, 2));
  // What is sold once and not prorated costs its whole price.
  assert.equal(await amounts(), [
    'addon_added 32 − 0',
    'addon_added 62 − 0',
    'period_opened 31 − 0',
  ]);
  await attach({ cadence: 'onetime' });
  await cancel(id, { cancellation_type: 'immediate' });
  const last = (await amounts()).at(-1);
  assert.is(last, 'cancelled 0 − 29.89');
});

test('it ends with the period unless an instant of it is asked for, and prorated the rest is credited', async () => {
  const { attach, remove, pass, amounts, limits, associations } = await selling();
  const first = await attach();
  const second = await attach();
  assert.equal(await limits(), ['PLAN 100', 'ADDON 50', 'ADDON 50']);
  await pass(day(1, 16));
  const later = await remove(first.id, { reason: 'too much' });
  assert.is(later.end_date, day(2, 1));
  assert.is(later.addon_status, 'active');
  assert.is(later.cancelled_at, day(1, 16));
  assert.is(later.cancellation_reason, 'too much');
  const now = await remove(second.id, {
    effective_date: day(1, 16),
    proration_behavior: 'create_prorations',
  });
  assert.is(now.settlement.credit_amount, '32');
  assert.is(now.addon_status, 'cancelled');
  assert.equal(await limits(), ['PLAN 100', 'ADDON 50']);
  assert.is((await associations()).length, 2);
  const again = await rejection(remove(second.id));
  assert.is(again.details?.reason, 'ended');
  const late = await rejection(remove(first.id));
  assert.is(late.details?.reason, 'ended');
  await pass(day(2, 1));
  assert.equal(await limits(), ['PLAN 100']);
  assert.is((await amounts()).at(-1), 'period_opened 31 − 0');
});

test('one that begins later waits for that, and is charged with its period', async () => {
  const { attach, pass, amounts, limits, events, id, remove, associations } = await selling();
  const { id: association, addon_status } = await attach({ start_date: day(2, 15) });
  assert.is(addon_status, 'pending');
  assert.equal(await limits(), ['PLAN 100']);
  await pass(day(2, 14));
  assert.equal(await limits(), ['PLAN 100']);
  await pass(day(2, 15));
  assert.equal(await limits(), ['PLAN 100', 'ADDON 50']);
  assert.is((await associations())[0]?.addon_status, 'active');
  assert.is((await amounts()).at(-1), 'period_opened 62 − 0');
  assert.is((await events(id)).filter((type) => type === 'AddonBegun').length, 1);
  const outside = await rejection(remove(association, { effective_date: day(3, 2) }));
  assert.is(outside.code, 'validation_error');
  // Another one is taken back before it begins, and never was.
  const { id: never } = await attach({ start_date: day(6, 1) });
  const taken = await remove(never);
  assert.is(taken.end_date, day(6, 1));
  await pass(day(6, 2));
  assert.equal(await limits(), ['PLAN 100', 'ADDON 50']);
});

test('a subscription is created with add-ons, under other prices if it says so', async () => {
  const { create, addonId, addonPrices, associations, limits, pass, world } = await selling();
  const override_line_items = [{ price_id: addonPrices[0], amount: '7', quantity: '2' }];
  const made = await create({
    trial_period_days: 10,
    addons: [
      { addon_id: addonId, override_line_items },
      { addon_id: addonId, cadence: 'onetime' },
      { addon_id: addonId, start_date: day(3, 1) },
    ],
  });
  assert.equal(
    made.line_items.map(({ entity_type, price, quantity }) => [
      entity_type,
      price.amount,
      quantity,
    ]),
    [
      ['plan', '31', '1'],
      ['addon', '7', '2'],
      ['addon', '62', '1'],
      ['addon', '62', '1'],
    ],
  );
  assert.equal(
    made.line_items.map(({ start_date, end_date }) => [start_date, end_date]),
    [
      [day(1, 11), undefined],
      [day(1, 11), undefined],
      // What is sold once lasts until the end of the first period that is charged.
      [day(1, 11), day(2, 11)],
      [day(3, 1), undefined],
    ],
  );
  assert.equal(await limits(made.id), ['PLAN 100', 'ADDON 50', 'ADDON 50']);
  await pass(day(2, 12));
  assert.equal(await limits(made.id), ['PLAN 100', 'ADDON 50']);
  assert.is(world.now, day(2, 12));
  assert.equal((await associations(made.id)).map(({ addon_status }) => addon_status).sort(), [
    'active',
    'pending',
  ]);
});

test('the activation of a draft decides the dates of its add-ons anew', async () => {
  const { create, addonId, associations, activate, limits, pass } = await selling();
  const { id } = await create({
    subscription_status: 'draft',
    addons: [
      { addon_id: addonId, cadence: 'onetime' },
      { addon_id: addonId, start_date: day(5, 1) },
    ],
  });
  assert.equal(await limits(id), []);
  await pass(day(4, 10));
  const { line_items } = await activate(id);
  assert.equal(
    line_items.map(({ start_date, end_date }) => [start_date, end_date]),
    [
      [day(4, 10), undefined],
      [day(4, 10), day(5, 10)],
      [day(5, 1), undefined],
    ],
  );
  assert.equal(
    (await associations(id))
      .map(({ start_date, addon_status }) => [start_date, addon_status])
      .sort(),
    [
      [day(4, 10), 'active'],
      [day(5, 1), 'pending'],
    ],
  );
  assert.equal(await limits(id), ['PLAN 100', 'ADDON 50']);
});

test('a draft that is activated before it was to begin has its add-ons from then on', async () => {
  const { create, addonId, associations, activate, limits } = await selling();
  const addons = [{ addon_id: addonId, cadence: 'onetime' }];
  const draft = { subscription_status: 'draft', start_date: day(3, 1), addons };
  const { id } = await create(draft);
  await activate(id);
  assert.equal(
    (await associations(id)).map(({ start_date, end_date }) => [start_date, end_date]),
    [[day(1, 1), day(2, 1)]],
  );
  assert.equal(await limits(id), ['PLAN 100', 'ADDON 50']);
});

test('the end of a subscription ends its add-ons, and credits what was paid for them', async () => {
  const { attach, cancel, id, pass, amounts, associations, limits } = await selling();
  await attach();
  await attach({ start_date: day(1, 20) });
  await pass(day(1, 16));
  await cancel(id, { cancellation_type: 'immediate', reason: 'moved away' });
  assert.is((await amounts()).at(-1), 'cancelled 0 − 72');
  assert.equal(await limits(), []);
  for (const { addon_status, end_date, cancellation_reason } of await associations()) {
    assert.equal(
      [addon_status, end_date, cancellation_reason],
      ['cancelled', day(1, 16), 'moved away'],
    );
  }
});

test('a repetition of a request attaches once, and ends once', async () => {
  const { attach, remove, id, events, pass } = await selling();
  const [one, other] = [await attach({}, 'once'), await attach({}, 'once')];
  assert.is(one.id, other.id);
  await pass(day(1, 10));
  const ended = await remove(one.id, {}, 'end');
  assert.equal(await remove(one.id, {}, 'end'), ended);
  const types = await events(id);
  assert.is(types.filter((type) => type === 'AddonAttached').length, 1);
  assert.is(types.filter((type) => type === 'AddonRemoved').length, 1);
});

test('an add-on without a price gives what it gives; one whose prices do not fit is refused', async () => {
  const free = await selling({}, []);
  const { settlement } = await free.attach();
  assert.is(settlement.charge_amount, '0');
  assert.equal(await free.limits(), ['PLAN 100', 'ADDON 50']);
  const yearly = await selling({ billing_period: 'MONTHLY' }, [{ amount: '5', currency: 'eur' }]);
  const problem = await rejection(yearly.attach());
  assert.is(problem.details?.reason, 'unsuitable');
});

test('a limit that starts over in another rhythm is refused', async () => {
  const { attach, call, limit } = await selling();
  const other = await call(offers.routes ?? {}, 'POST /addons', { name: 'Daily', lookup_key: 'd' });
  await limit({ entity_type: 'ADDON', entity_id: other.id }, 5, { usage_reset_period: 'DAILY' });
  const problem = await rejection(attach({ addon_id: other.id }));
  assert.is(problem.code, 'validation_error');
  assert.is(problem.errors?.[0]?.pointer, '/addon_id');
});

test('a preview shows what attaching and ending settle, and binds it', async () => {
  const { modify, addonId, pass, amounts, associations } = await selling();
  await pass(day(1, 16));
  const adding = { type: 'add_addon', add_addon_params: { addon_id: addonId } };
  const seen = await modify('preview', adding);
  assert.is(seen.settlement.charge_amount, '32');
  assert.equal(
    seen.changed_resources.line_items.map(({ change_action }) => change_action),
    ['created'],
  );
  await pass(day(1, 16));
  const done = await modify('execute', { ...adding, quote_id: seen.quote_id });
  assert.equal(done.settlement.charge_amount, seen.settlement.charge_amount);
  const [association] = await associations();
  const ending = {
    type: 'remove_addon',
    remove_addon_params: {
      addon_association_id: association?.id,
      effective_date: day(1, 16),
      proration_behavior: 'create_prorations',
    },
  };
  assert.is((await modify('preview', ending)).settlement.credit_amount, '32');
  assert.is((await modify('execute', ending)).settlement.credit_amount, '32');
  assert.equal(await amounts(), ['addon_added 32 − 0', 'addon_removed 0 − 32']);
});

test('credits of an add-on come with it and end with it', async () => {
  const { call, addonId, attach, remove, pass, request, id } = await selling();
  await call(offers.routes ?? {}, 'POST /creditgrants', {
    ...{ name: 'Bonus', scope: 'ADDON', addon_id: addonId, credits: '100' },
    ...{ cadence: 'RECURRING', period: 'WEEKLY' },
  });
  const upcoming = async () => {
    const route = grantRoutes['GET /subscriptions/{id}/grants/upcoming'];
    const { items } = await callRoute(route, request(), { params: { id } });
    return items.map(({ scheduled_for }) => scheduled_for);
  };
  await pass(day(1, 5));
  const { id: association } = await attach();
  assert.equal(await upcoming(), [day(1, 12)]);
  await pass(day(1, 13));
  assert.equal(await upcoming(), [day(1, 19)]);
  await remove(association, { effective_date: day(1, 19) });
  await pass(day(1, 19));
  assert.equal(await upcoming(), []);
});

test('a pause moves the end of an add-on that is to come, with its lines, and lets nothing be attached', async () => {
  const { attach, remove, associations, id, pass, pause, resume, get } = await selling();
  const { id: association } = await attach();
  await pass(day(1, 5));
  await remove(association, { effective_date: day(1, 21) });
  await pass(day(1, 11));
  await pause(id);
  assert.is((await rejection(attach())).details?.reason, 'paused');
  await pass(day(1, 25));
  assert.is((await associations())[0]?.addon_status, 'active');
  await resume(id);
  assert.is((await associations())[0]?.end_date, day(2, 4));
  const ended = (await get(id)).line_items.map(({ end_date }) => end_date);
  assert.ok(ended.includes(day(2, 4)));
  await pass(day(2, 4));
  assert.is((await associations())[0]?.addon_status, 'cancelled');
});

const parts: readonly (readonly [string, number, object, string, number])[] = [
  ['a part of the period that is left', 20, {}, '38.70967742', 1],
  ['all where nothing is prorated', 20, { proration_behavior: 'none' }, '100', 20],
  ['all where it is sold once', 20, { cadence: 'onetime' }, '100', 20],
  ['all at the start of a period', 1, {}, '100', 1],
];
for (const [name, date, terms, credits, next] of parts) {
  test(`E 11.5, 19 credits in the rhythm of the subscription give ${name}`, async () => {
    const { call, addonId, attach, pass, request, id } = await selling();
    await call(offers.routes ?? {}, 'POST /creditgrants', {
      ...{ name: 'Bonus', scope: 'ADDON', addon_id: addonId, credits: '100' },
      ...{ cadence: 'RECURRING', period: 'MONTHLY' },
    });
    await pass(day(1, date));
    await attach(terms);
    const given: string[] = [];
    for await (const event of request().history(subscription, id)) {
      if (event.type === 'CreditsGranted') given.push(event.data.credits);
    }
    assert.equal(given, [credits]);
    const route = grantRoutes['GET /subscriptions/{id}/grants/upcoming'];
    const { items } = await callRoute(route, request(), { params: { id } });
    const upcoming = items.map(({ scheduled_for, exact_credits }) => [
      scheduled_for,
      exact_credits,
    ]);
    assert.equal(upcoming, [[day(2, next), '100']]);
  });
}

test('an add-on has granted since its start, until its end, whenever that is asked', async () => {
  const { attach, remove, pass, request, made } = await selling();
  const limitsAt = async (at: Instant) =>
    (await grantsOf(request(), made.customer_id, at)).map(({ usage_limit }) => usage_limit);
  await pass(day(1, 20));
  const { id: association } = await attach({ start_date: day(1, 10) });
  await pass(day(2, 20));
  await remove(association, { effective_date: day(3, 1) });
  const expected = async () => {
    assert.equal(await limitsAt(day(1, 9)), [100]);
    assert.equal(await limitsAt(day(1, 10)), [100, 50]);
    assert.equal(await limitsAt(day(2, 28)), [100, 50]);
    assert.equal(await limitsAt(day(3, 1)), [100]);
  };
  await expected();
  await pass(day(4, 1));
  await expected();
});

test.run();
