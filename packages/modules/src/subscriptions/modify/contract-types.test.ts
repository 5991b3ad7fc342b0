// The types of modifications that the public contract has: add-ons, coupons, taxes, grouped invoicing, ends of trials.
import { invariant } from '@counterfoil/kernel';
import { callRoute, memoryDueRows, rejection, testPrincipal } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { couponRedemptions, coupons } from '../../coupons/index.ts';
import { customers } from '../../customers/index.ts';
import { taxAssociationRecords, taxes } from '../../taxes/index.ts';
import { couponAssociationRoutes } from '../coupons/routes.ts';
import { redemptionsSettled } from '../coupons/settling.ts';
import { soldAddon } from '../test-sold-addon.ts';
import { day, subscriptionWorld } from '../test-subscription-world.ts';
import { modificationRoutes as routes } from './routes.ts';
import { modifySubscriptionSchema } from './schema.ts';

const test = suite('modifications of the public contract');

/** A world with a subscription of 31 a month, and its modifications. */
async function modifiedWorld(terms: object = {}) {
  const world = await subscriptionWorld([{ amount: '31' }, { amount: '7' }]);
  const made = await world.create({ proration_behavior: 'create_prorations', ...terms });
  const bodyOf = (type: string, params: object, more: object) =>
    ({ type, [`${type}_params`]: params, ...more }) as never;
  return {
    ...world,
    id: made.id,
    made,
    preview: (type: string, params: object, id = made.id) =>
      callRoute(routes['POST /subscriptions/{id}/modify/preview'], world.request(), {
        params: { id },
        body: bodyOf(type, params, {}),
      }),
    execute: (type: string, params: object, more: object = {}, key?: string, id = made.id) =>
      callRoute(
        routes['POST /subscriptions/{id}/modify/execute'],
        world.request('modify', key ?? crypto.randomUUID()),
        { params: { id }, body: bodyOf(type, params, more) },
      ),
  };
}

test('an add-on is attached and ended as the contract names it, at the figures of its preview', async () => {
  const world = await modifiedWorld();
  const { preview, execute, pass, get, id } = world;
  const addon_id = await soldAddon(world, [{ amount: '62' }]);
  await pass(day(1, 16));
  const adding = { action: 'add', add: { addon_id } };
  const seen = await preview('addon', adding);
  assert.is(seen.settlement.charge_amount, '32');
  assert.is((await get(id)).line_items.length, 2);
  const done = await execute('addon', adding, { quote_id: seen.quote_id });
  assert.equal(
    done.settlement.lines.map((line) => ({ ...line, line_item_id: '' })),
    seen.settlement.lines.map((line) => ({ ...line, line_item_id: '' })),
  );
  const [line] = done.changed_resources.line_items;
  const association = done.subscription.line_items.find((each) => each.id === line?.id);
  const remove = {
    addon_association_id: association?.addon_association_id,
    effective_date: day(1, 16),
    proration_behavior: 'create_prorations',
  };
  const ended = await execute('addon', { action: 'remove', remove });
  assert.is(ended.settlement.credit_amount, '32');
});

test('params that their action needs are asked for', () => {
  const faultsOf = (type: string, params: object) => {
    const read = modifySubscriptionSchema.safeParse({ type, [`${type}_params`]: params });
    return read.error?.issues.map(({ path }) => path.join('/'));
  };
  for (const [type, params, fault] of [
    ['addon', { action: 'add' }, 'addon_params/add'],
    ['addon', { action: 'remove', add: { addon_id: 'addon_1' } }, 'addon_params/remove'],
    ['coupon', { action: 'add' }, 'coupon_params/coupon_code'],
    ['coupon', { action: 'remove' }, 'coupon_params/coupon_association_id'],
    ['tax', { action: 'add' }, 'tax_params/tax_rate_id'],
    ['tax', { action: 'remove' }, 'tax_params/tax_association_id'],
    ['trial_end', { action: 'scheduled_date' }, 'trial_end_params/new_trial_end'],
    [
      'grouped_invoicing',
      { action: 'add', child_subscription_ids: [] },
      'grouped_invoicing_params/child_subscription_ids',
    ],
  ] as const) {
    assert.equal(faultsOf(type, params), [fault]);
  }
  const both = { action: 'add', coupon_code: 'X' };
  const places = { subscription_id: 'subs_1', subscription_line_item_id: 'subs_line_1' };
  assert.equal(faultsOf('coupon', { ...both, ...places }), [
    'coupon_params/subscription_line_item_id',
  ]);
});

/** The same with coupons of ten percent, by their codes. */
async function couponedWorld(terms: object = {}) {
  const world = await modifiedWorld();
  const offered = async (coupon_code: string, more: object = {}) => {
    const ten = { name: 'Ten', type: 'percentage', percentage_off: '10', cadence: 'once' };
    const body = { ...ten, coupon_code, ...more };
    return (await world.call(coupons.routes, 'POST /coupons', body)).id;
  };
  const coupon = await offered('TEN', terms);
  return {
    ...world,
    offered,
    coupon,
    total: async () => (await world.request().load(couponRedemptions, coupon))?.total ?? 0,
    /** Looks after redemptions whose time has come. */
    settle: async () => {
      const { store, now } = world.world;
      for (const { id } of memoryDueRows(store, redemptionsSettled, testPrincipal(), now)) {
        await redemptionsSettled.run(world.request() as never, id);
      }
    },
    listed: async () => {
      const list = couponAssociationRoutes['GET /coupons/associations'];
      const query = { subscription_ids: world.id };
      return (await callRoute(list, world.request(), { query })).items;
    },
  };
}

test('a coupon is redeemed later, and counts until it is taken off', async () => {
  const { preview, execute, pass, get, coupon, total, settle, listed, id, made } =
    await couponedWorld();
  await pass(day(1, 11));
  const line = made.line_items[0]?.id;
  const adding = { action: 'add', coupon_code: 'ten', subscription_line_item_id: line };
  const seen = await preview('coupon', adding);
  assert.equal(
    seen.changed_resources.coupon_associations?.map((each) => [each.coupon_id, each.change_action]),
    [[coupon, 'created']],
  );
  assert.equal([await total(), (await get(id)).coupon_associations], [0, []]);
  const done = await execute('coupon', adding, { quote_id: seen.quote_id }, 'one');
  await execute('coupon', adding, { quote_id: seen.quote_id }, 'one');
  assert.is(await total(), 1);
  const [held] = done.subscription.coupon_associations;
  invariant(held, 'it has the coupon');
  assert.equal(
    [held.subscription_line_item_id, held.start_date, held.created_at],
    [line, day(1, 11), day(1, 11)],
  );
  assert.equal(await get(id).then((shown) => shown.coupon_associations), [held]);
  assert.equal(
    (await listed()).map(({ coupon: _, ...each }) => each),
    [held],
  );
  const again = await rejection(execute('coupon', adding));
  assert.equal(
    [again.details?.reason, again.details?.field],
    ['exists', 'coupon_params.coupon_code'],
  );
  await pass(day(1, 21));
  const removing = { action: 'remove', coupon_association_id: held.id };
  const ended = await execute('coupon', removing);
  assert.equal(ended.changed_resources.coupon_associations, [
    { id: held.id, coupon_id: coupon, change_action: 'ended' },
  ]);
  assert.is((await listed())[0]?.end_date, day(1, 21));
  assert.is((await rejection(execute('coupon', removing))).details?.reason, 'ended');
  // It was redeemed for the subscription, and is not counted once more.
  await settle();
  await execute('coupon', { action: 'add', coupon_code: 'TEN' });
  assert.is(await total(), 1);
});

test('a coupon that does not fit is refused, and redeems nothing', async () => {
  const { preview, execute, offered, total } = await couponedWorld({ max_redemptions: 1 });
  await offered('EURO', { type: 'fixed', percentage_off: null, amount_off: '5', currency: 'eur' });
  await offered('PAST', { redeem_before: '2025-12-31T00:00:00Z' });
  const faultOf = async (params: object) => {
    const asked = { action: 'add', coupon_code: 'TEN', ...params };
    const faults = [];
    for (const way of [preview, execute]) {
      const { code, errors, details } = await rejection(way('coupon', asked));
      faults.push([code, errors?.[0]?.pointer ?? details?.field ?? details?.reason]);
    }
    assert.equal(faults[0], faults[1], 'a preview is refused as its execution');
    return faults[0];
  };
  const wrong = (name: string) => ['validation_error', `/coupon_params/${name}`];
  assert.equal(await faultOf({ coupon_code: 'NONE' }), ['not_found', 'coupon_params.coupon_code']);
  assert.equal(await faultOf({ coupon_code: 'EURO' }), wrong('coupon_code'));
  assert.equal(await faultOf({ coupon_code: 'PAST' }), [
    ...['invalid_operation', 'coupon_params.coupon_code'],
  ]);
  assert.equal(await faultOf({ start_date: day(12, 31, 2025) }), wrong('start_date'));
  assert.equal(await faultOf({ end_date: day(1, 1) }), wrong('end_date'));
  assert.equal(await faultOf({ subscription_id: 'subs_x' }), wrong('subscription_id'));
  assert.equal(
    await faultOf({ subscription_line_item_id: 'subs_line_x' }),
    wrong('subscription_line_item_id'),
  );
  assert.is(await total(), 0);
  const gone = { action: 'remove', coupon_association_id: 'coupon_assoc_x' };
  assert.is(
    (await rejection(execute('coupon', gone))).errors?.[0]?.pointer,
    '/coupon_params/coupon_association_id',
  );
});

test('a coupon is redeemed as often as it may be, by modifications too', async () => {
  const { preview, execute, create, total } = await couponedWorld({ max_redemptions: 1 });
  const other = await create({});
  const adding = { action: 'add', coupon_code: 'TEN' };
  await execute('coupon', adding);
  const refused = await rejection(execute('coupon', adding, {}, undefined, other.id));
  assert.is(refused.details?.reason, 'limit_reached');
  const foreseen = await rejection(preview('coupon', adding, other.id));
  assert.is(foreseen.details?.reason, 'limit_reached');
  assert.is(await total(), 1);
});

test('a tax rate is attached and detached, once for a key', async () => {
  const { preview, execute, call, request, cancel, id } = await modifiedWorld();
  const body = { name: 'VAT', code: 'VAT', percentage_value: '19' };
  const { id: tax_rate_id } = await call(taxes.routes, 'POST /taxes/rates', body);
  const adding = { action: 'add', tax_rate_id, effective_date: day(2, 1) };
  const held = async () => {
    const page = { limit: 10, offset: 0 };
    return (await request().read.list(taxAssociationRecords.table, page, [])).items;
  };
  await preview('tax', adding);
  assert.equal(await held(), []);
  const done = await execute('tax', adding, {}, 'one');
  const repeated = await execute('tax', adding, {}, 'one');
  assert.equal(repeated.changed_resources, done.changed_resources);
  const [association, ...others] = await held();
  invariant(association, 'a rate is attached');
  assert.equal([others, association.entity_id, association.start_date], [[], id, day(2, 1)]);
  assert.equal(done.changed_resources.tax_associations, [
    { id: association.id, change_action: 'created' },
  ]);
  for (const way of [preview, execute]) {
    assert.is((await rejection(way('tax', adding))).code, 'already_exists');
    const unknown = await rejection(way('tax', { action: 'add', tax_rate_id: 'taxrate_x' }));
    assert.equal([unknown.code, unknown.details?.field], ['not_found', 'tax_params.tax_rate_id']);
  }
  const removing = { action: 'remove', tax_association_id: association.id };
  await execute('tax', removing, {}, 'two');
  await execute('tax', removing, {}, 'two');
  assert.equal(await held(), []);
  assert.is((await rejection(preview('tax', removing))).code, 'not_found');
  await cancel(id, { cancellation_type: 'immediate' });
  assert.is((await rejection(execute('tax', adding))).details?.reason, 'ended');
});

test('subscriptions are invoiced with another one, and alone again', async () => {
  const { preview, execute, create, get, id } = await modifiedWorld();
  const [one, two] = [await create({}), await create({})];
  const members = { child_subscription_ids: [one.id, two.id] };
  const adding = { action: 'add', parent_subscription_id: id, ...members };
  const seen = await preview('grouped_invoicing', adding);
  assert.is(seen.subscription.subscription_type, 'parent');
  assert.is((await get(one.id)).subscription_type, 'standalone');
  const done = await execute('grouped_invoicing', adding, { quote_id: seen.quote_id }, 'one');
  assert.equal(
    [done.subscription.subscription_type, done.changed_resources.subscriptions],
    ['parent', [one.id, two.id].map((each) => ({ id: each, action: 'updated', status: 'active' }))],
  );
  const child = await get(two.id);
  assert.equal([child.subscription_type, child.parent_subscription_id], ['grouped_invoicing', id]);
  const repeated = await execute('grouped_invoicing', adding, { quote_id: seen.quote_id }, 'one');
  assert.equal(repeated.changed_resources, done.changed_resources);
  const leaving = { action: 'remove', child_subscription_ids: [one.id] };
  const left = await execute('grouped_invoicing', leaving);
  assert.is(left.subscription.subscription_type, 'parent');
  assert.is((await get(one.id)).subscription_type, 'standalone');
  await execute('grouped_invoicing', { ...leaving, child_subscription_ids: [two.id] });
  assert.is((await get(id)).subscription_type, 'standalone');
});

test('what cannot be invoiced together is refused before anything changes', async () => {
  const { preview, execute, create, get, call, id } = await modifiedWorld();
  const { id: fits } = await create({});
  const other = await create({});
  const mine = { action: 'add', child_subscription_ids: [other.id] };
  const third = (await create({})).id;
  await execute('grouped_invoicing', mine, {}, undefined, third);
  await call(customers.routes, 'POST /customers', { name: 'Ben', external_id: 'ben' });
  const faultOf = async (ids: readonly string[], more: object = {}) => {
    const asked = { action: 'add', child_subscription_ids: ids, ...more };
    const { details, errors } = await rejection(execute('grouped_invoicing', asked));
    await rejection(preview('grouped_invoicing', asked));
    return errors?.[0]?.pointer ?? details?.field ?? details?.reason;
  };
  const place = (index: number) => `/grouped_invoicing_params/child_subscription_ids/${index}`;
  assert.is(await faultOf([fits, other.id]), place(1));
  assert.is(await faultOf([fits, 'subs_x']), place(1).slice(1).replaceAll('/', '.'));
  assert.is(await faultOf([fits, id]), 'unsuitable');
  assert.is(
    await faultOf([fits], { parent_subscription_id: third }),
    '/grouped_invoicing_params/parent_subscription_id',
  );
  assert.is((await get(fits)).subscription_type, 'standalone');
});

test.run();
