import type { SubscriptionId } from '@counterfoil/kernel';
import { callRoute, reactTo, rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { customers } from '../../customers/index.ts';
import { walletTable } from '../../wallets/index.ts';
import { followingSubscriptions } from '../change/reactions.ts';
import { creditsOfSettlements } from '../credits/reactions.ts';
import { grantsOf } from '../entitlements/grants.ts';
import { modificationRoutes } from '../modify/routes.ts';
import { subscription } from '../subscription.ts';
import { day, subscriptionWorld } from '../test-subscription-world.ts';
import { stretchesOf } from '../usage/stretches.ts';
import { heirsOf, inheritedId, usersOf } from './family.ts';
import { families } from './reactions.ts';

const test = suite('families of subscriptions');

const heirs = 'external_customer_ids_to_inherit_subscription';

/** A world with three customers, Ada among them, whose subscription others inherit. */
async function familyWorld() {
  const world = await subscriptionWorld([{}, { type: 'USAGE', amount: '1' }]);
  const ids: Record<string, string> = {};
  for (const external_id of ['ben', 'cleo']) {
    const body = { name: external_id, external_id };
    ids[external_id] = (await world.call(customers.routes, 'POST /customers', body)).id;
  }
  const loaded = (id: string) => world.request().load(subscription, id);
  return {
    ...world,
    ids,
    loaded,
    modify: (id: string, type: string, params: object) =>
      callRoute(
        modificationRoutes['POST /subscriptions/{id}/modify/execute'],
        world.request('modify'),
        { params: { id }, body: { type, [`${type}_params`]: params } as never },
      ),
    /** Carries out what follows from a subscription, as the projector does. */
    react: (id: string) => reactTo(world.request(), families, id),
  };
}

test('customers inherit a subscription from its beginning, and live through what it does', async () => {
  const { create, get, react, pass, pause, resume, cancel, ids, events } = await familyWorld();
  const parent = await create({ inheritance: { [heirs]: ['ben', 'cleo'] } });
  assert.is(parent.subscription_type, 'parent');
  await react(parent.id);
  const child = inheritedId(parent.id, ids.ben ?? '');
  const shown = await get(child);
  assert.equal(
    [shown.subscription_type, shown.parent_subscription_id, shown.customer_id, shown.line_items],
    ['inherited', parent.id, ids.ben, []],
  );
  assert.is(shown.invoicing_customer_id, parent.customer_id);
  assert.is(shown.current_period_end, day(2, 1));
  await pass(day(2, 11));
  await react(parent.id);
  assert.is((await get(child)).current_period_end, day(3, 1));
  await pause(parent.id, { pause_days: 5 });
  await react(parent.id);
  assert.is((await get(child)).subscription_status, 'paused');
  await pass(day(2, 13));
  await resume(parent.id);
  await react(parent.id);
  const running = await get(child);
  assert.equal([running.subscription_status, running.current_period_end], ['active', day(3, 3)]);
  await cancel(parent.id, { cancellation_type: 'immediate' });
  await react(parent.id);
  await react(parent.id);
  const ended = await get(child);
  assert.equal([ended.subscription_status, ended.cancelled_at], ['cancelled', day(2, 13)]);
  assert.equal(
    (await events(child)).filter((type) => type !== 'RequestWithoutEffect'),
    [
      ...['SubscriptionCreated', 'PeriodOpened', 'PeriodClosed', 'PeriodOpened'],
      ...['PauseStarted', 'PauseEnded', 'PeriodClosed', 'SubscriptionCancelled'],
    ],
  );
});

test('what is inherited takes no steps of its own, and no commands', async () => {
  const { create, cancel, pause, update, activate, react, pass, get, ids } = await familyWorld();
  const parent = await create({ inheritance: { [heirs]: ['ben'] } });
  await react(parent.id);
  const child = inheritedId(parent.id, ids.ben ?? '');
  await pass(day(4, 1));
  assert.is((await get(child)).current_period_end, day(2, 1), 'nobody has told it yet');
  for (const work of [
    () => cancel(child, { cancellation_type: 'immediate' }),
    () => pause(child),
    () => update(child, { cancel_at_period_end: true }),
    () => activate(child),
  ]) {
    assert.is((await rejection(work())).details?.reason, 'inherited');
  }
  await update(child, { metadata: { team: 'b' } });
  await react(parent.id);
  assert.is((await get(child)).current_period_end, day(5, 1));
});

test('customers come to inherit a subscription later, and cease to', async () => {
  const { create, modify, get, react, pass, ids, loaded } = await familyWorld();
  const { id } = await create({});
  await pass(day(1, 11));
  const added = await modify(id, 'inheritance', { [heirs]: ['ben'] });
  assert.is(added.subscription.subscription_type, 'parent');
  assert.equal(added.settlement.lines, []);
  await react(id);
  const state = await loaded(id);
  assert.ok(state);
  const child = heirsOf(state)[0]?.subscription_id ?? ('' as SubscriptionId);
  const shown = await get(child);
  assert.equal(
    [shown.start_date, shown.current_period_start, shown.current_period_end],
    [day(1, 11), day(1, 1), day(2, 1)],
  );
  const twice = await rejection(modify(id, 'inheritance', { [heirs]: ['ben'] }));
  assert.is(twice.errors?.[0]?.pointer, `/inheritance_params/${heirs}/0`);
  await pass(day(1, 21));
  await modify(id, 'inheritance', { external_customer_ids_to_remove: ['ben'] });
  await react(id);
  assert.equal(
    [(await get(child)).subscription_status, (await get(id)).subscription_type],
    ['cancelled', 'standalone'],
  );
  const after = await loaded(id);
  assert.ok(after);
  const month = { start: day(1, 1), end: day(2, 1) };
  const stretches = stretchesOf(usersOf(after), [], month);
  assert.equal(
    stretches.map(({ customerIds, span }) => [customerIds.length, span.start, span.end]),
    [
      [1, day(1, 1), day(1, 11)],
      [2, day(1, 11), day(1, 21)],
      [1, day(1, 21), day(2, 1)],
    ],
  );
  await pass(day(1, 22));
  await modify(id, 'inheritance', { action: 'add', [heirs]: ['ben', 'cleo'] });
  await react(id);
  for (const again of [inheritedId(id, ids.ben ?? '', 1), inheritedId(id, ids.cleo ?? '')]) {
    assert.is((await get(again)).subscription_status, 'active');
  }
});

test('a customer inherits a subscription again at the instant at which it ceased to', async () => {
  const { create, modify, get, react, ids } = await familyWorld();
  const { id } = await create({});
  await modify(id, 'inheritance', { [heirs]: ['ben'] });
  await modify(id, 'inheritance', { external_customer_ids_to_remove: ['ben'] });
  await modify(id, 'inheritance', { [heirs]: ['ben'] });
  await react(id);
  const statusOf = async (earlier: number) =>
    (await get(inheritedId(id, ids.ben ?? '', earlier))).subscription_status;
  assert.equal([await statusOf(0), await statusOf(1)], ['cancelled', 'active']);
});

test('who inherits has what the parent grants, with that reason, as long as it does', async () => {
  const world = await familyWorld();
  const { create, react, request, pass, ids, modify, pause } = world;
  const { id } = await create({ inheritance: { [heirs]: ['ben'] } });
  await react(id);
  const state = await world.loaded(id);
  assert.ok(state);
  // The world's plan grants nothing: what is asked for is the way to the parent.
  const granted = { entitlement_id: 'ent_01', feature_id: 'feat_01' };
  Object.assign(state, { entitlements: [granted] });
  const own = request();
  const recalled = {
    ...own.recalled,
    load: async (_: unknown, wanted: string) =>
      wanted === id ? state : own.recalled.load(subscription, wanted),
  };
  const given = async () =>
    (await grantsOf({ ...own, recalled, now: world.world.now } as never, ids.ben ?? '')).map(
      ({ entitlement_id, subscription_id, is_inherited }) => [
        entitlement_id,
        subscription_id,
        is_inherited,
      ],
    );
  assert.equal(await given(), [['ent_01', inheritedId(id, ids.ben ?? ''), true]]);
  await modify(id, 'inheritance', { external_customer_ids_to_remove: ['ben'] });
  await react(id);
  assert.equal(await given(), []);
  await pass(day(1, 2));
  await pause(id);
});

test('another customer pays, and what is credited comes to its wallet', async () => {
  const { create, cancel, pass, ids, search, request } = await familyWorld();
  const made = await create({ inheritance: { invoicing_customer_external_id: 'cleo' } });
  assert.equal(
    [made.subscription_type, made.invoicing_customer_id],
    ['delegated_invoicing', ids.cleo],
  );
  const found = await search({ invoicing_customer_ids: [ids.cleo] });
  assert.equal(
    found.items.map(({ id }) => id),
    [made.id],
  );
  await pass(day(1, 11));
  await cancel(made.id, { cancellation_type: 'immediate' });
  await reactTo(request(), creditsOfSettlements(), made.id);
  const { items } = await request().read.list(walletTable, { limit: 10, offset: 0 }, []);
  assert.equal(
    items.map(({ customer_id }) => customer_id),
    [ids.cleo],
  );
});

test('subscriptions are invoiced with another one, and keep their own life', async () => {
  const { create, update, get, react, search, cancel } = await familyWorld();
  const alone = await create({});
  const parent = await create({
    inheritance: { subscriptions_ids_for_grouped_invoicing: [alone.id] },
  });
  await react(parent.id);
  await react(alone.id);
  const member = await create({ inheritance: { parent_subscription_id: parent.id } });
  await react(member.id);
  assert.equal(
    [
      (await get(alone.id)).subscription_type,
      (await get(parent.id)).subscription_type,
      member.subscription_type,
    ],
    ['grouped_invoicing', 'parent', 'grouped_invoicing'],
  );
  const family = await search({ parent_subscription_ids: [parent.id] });
  assert.equal(family.pagination.total, 2);
  for (const id of [alone.id, member.id]) {
    await update(id, { parent_subscription_id: '' });
    await react(id);
  }
  assert.is((await get(parent.id)).subscription_type, 'standalone');
  await update(member.id, { parent_subscription_id: parent.id });
  await react(member.id);
  await cancel(parent.id, { cancellation_type: 'immediate' });
  await react(parent.id);
  assert.is((await get(member.id)).subscription_status, 'active');
});

test('what does not belong together is refused', async () => {
  const { create, update, react, ids } = await familyWorld();
  const parent = await create({ inheritance: { [heirs]: ['ben'] } });
  await react(parent.id);
  const child = inheritedId(parent.id, ids.ben ?? '');
  const other = await create({ billing_period: 'QUARTERLY' }).catch(() => null);
  assert.is(other, null, 'the plan has no price for a quarter');
  const pointerOf = async (inheritance: object) => {
    const { code, errors, details } = await rejection(create({ inheritance }));
    return [code, errors?.[0]?.pointer ?? details?.field ?? details?.reason];
  };
  assert.equal(await pointerOf({ [heirs]: ['nobody'] }), ['not_found', `inheritance.${heirs}.0`]);
  assert.equal(await pointerOf({ [heirs]: ['ada'] }), [
    'validation_error',
    `/inheritance/${heirs}/0`,
  ]);
  assert.equal(await pointerOf({ [heirs]: ['ben', 'ben'] }), [
    'validation_error',
    `/inheritance/${heirs}/1`,
  ]);
  assert.equal(await pointerOf({ parent_subscription_id: child }), [
    'invalid_operation',
    'unsuitable',
  ]);
  assert.equal(await pointerOf({ parent_subscription_id: parent.id, [heirs]: ['ben'] }), [
    'validation_error',
    '/inheritance/parent_subscription_id',
  ]);
  assert.equal(await pointerOf({ subscriptions_ids_for_grouped_invoicing: [child] }), [
    'validation_error',
    '/inheritance/subscriptions_ids_for_grouped_invoicing/0',
  ]);
  const self = await rejection(update(parent.id, { parent_subscription_id: parent.id }));
  assert.is(self.details?.reason, 'unsuitable');
});

test('those who inherit a subscription inherit the one that follows on it', async () => {
  const { create, plan, change, get, react, request, ids, loaded } = await familyWorld();
  const target = await plan('Better', [{ amount: '20' }]);
  const { id } = await create({ inheritance: { [heirs]: ['ben'] } });
  await react(id);
  await change(id, { target_plan_id: target, proration_behavior: 'none' });
  await reactTo(request(), followingSubscriptions, id);
  await react(id);
  assert.is((await get(inheritedId(id, ids.ben ?? ''))).subscription_status, 'cancelled');
  const next = (await loaded(id))?.followed_by ?? '';
  await react(next);
  const child = await get(inheritedId(next, ids.ben ?? ''));
  assert.equal([child.plan_id, child.subscription_status], [target, 'active']);
});

test.run();
