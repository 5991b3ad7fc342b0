import { invariant, type SubscriptionId } from '@counterfoil/kernel';
import { callRoute, memoryDueRows, reactTo, rejection, testPrincipal } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { couponRecords, couponRedemptions, coupons, redeemCoupon } from '../../coupons/index.ts';
import { followingSubscriptions } from '../change/reactions.ts';
import { subscriptionRoutes } from '../routes.ts';
import { subscription } from '../subscription.ts';
import { day, subscriptionWorld } from '../test-subscription-world.ts';
import { couponsOfDrafts } from './reactions.ts';
import { couponAssociationRoutes } from './routes.ts';
import { redemptionsSettled } from './settling.ts';

const test = suite('coupons of subscriptions');

/** A world with a coupon of ten percent, for one time unless it says otherwise. */
async function couponWorld(terms: object = {}) {
  const world = await subscriptionWorld([{}, { amount: '7', display_name: 'Seats' }]);
  const offered = async (more: object) => {
    const ten = { name: 'Ten', type: 'percentage', percentage_off: '10', cadence: 'once' };
    return (await world.call(coupons.routes, 'POST /coupons', { ...ten, ...more })).id;
  };
  const id = await offered({ coupon_code: 'TEN', ...terms });
  return {
    ...world,
    offered,
    coupon: id,
    total: async () => (await world.request().load(couponRedemptions, id))?.total ?? 0,
    associations: async (query: object = {}) => {
      const list = couponAssociationRoutes['GET /coupons/associations'];
      return (await callRoute(list, world.request(), { query })).items;
    },
    /** Looks after redemptions whose time has come. */
    settle: async () => {
      const { store, now } = world.world;
      const context = world.request();
      for (const { id } of memoryDueRows(store, redemptionsSettled, testPrincipal(), now)) {
        await redemptionsSettled.run(context as never, id);
      }
    },
  };
}

test('a subscription redeems coupons, for all of it and for lines, each once', async () => {
  const { create, coupon, offered, priceIds, associations, total } = await couponWorld();
  const five = {
    name: 'Five',
    type: 'fixed',
    amount_off: '5',
    currency: 'usd',
    cadence: 'forever',
  };
  const other = await offered({ ...five, percentage_off: null, coupon_code: 'FIVE' });
  const made = await create({
    coupons: [coupon],
    line_item_coupons: { [priceIds[1] ?? '']: [coupon] },
    subscription_coupons: [{ coupon_code: 'five', end_date: day(6, 1) }],
  });
  const line = made.line_items.find(({ price_id }) => price_id === priceIds[1])?.id;
  assert.ok(line);
  assert.equal(
    made.coupon_associations.map((each) => [
      each.coupon_id,
      each.subscription_line_item_id,
      each.start_date,
      each.end_date,
    ]),
    [
      [coupon, undefined, day(1, 1), undefined],
      [coupon, line, day(1, 1), undefined],
      [other, undefined, day(1, 1), day(6, 1)],
    ],
  );
  assert.is(await total(), 1, 'one coupon on two places counts once');
  const listed = await associations({ subscription_ids: made.id, coupon_ids: other });
  assert.equal(
    listed.map(({ id, coupon: shown }) => [id, shown?.name]),
    [[made.coupon_associations[2]?.id, 'Five']],
  );
  assert.equal(await associations({ subscription_ids: 'subs_other' }), []);
});

test('a coupon of a phase is for it alone, and one for a price is for its line in every phase', async () => {
  const { create, coupon, offered, priceIds, total, request } = await couponWorld();
  const [, seats = ''] = priceIds;
  const other = await offered({ coupon_code: 'OTHER' });
  const made = await create({
    line_item_coupons: { [seats]: [coupon] },
    phases: [
      {
        start_date: day(1, 1),
        end_date: day(3, 1),
        subscription_coupons: [{ coupon_code: 'TEN' }],
      },
      { start_date: day(3, 1), coupons: [other], line_item_coupons: { [seats]: [other] } },
    ],
  });
  const [first, second] = made.phases.map(({ id }) => id);
  const lineOf = (phase: string | undefined) =>
    made.line_items.find((line) => line.price_id === seats && line.subscription_phase_id === phase)
      ?.id;
  assert.equal(
    made.coupon_associations.map((each) => [
      each.coupon_id,
      each.subscription_line_item_id,
      each.subscription_phase_id,
      each.start_date,
    ]),
    [
      [coupon, lineOf(first), undefined, day(1, 1)],
      [coupon, lineOf(second), undefined, day(1, 1)],
      [coupon, undefined, first, day(1, 1)],
      [other, undefined, second, day(3, 1)],
      [other, lineOf(second), second, day(3, 1)],
    ],
  );
  assert.is(new Set(made.coupon_associations.map(({ id }) => id)).size, 5);
  assert.is(await total(), 1);
  assert.is((await request().load(couponRedemptions, other))?.total, 1);
  const fault = async (phase: object) => {
    const last = { start_date: day(3, 1), end_date: day(5, 1), ...phase };
    const phases = [{ start_date: day(1, 1), end_date: day(3, 1) }, last];
    const { errors } = await rejection(create({ phases }));
    return errors?.[0]?.pointer;
  };
  const early = { coupon_code: 'TEN', start_date: day(2, 1) };
  assert.is(
    await fault({ subscription_coupons: [early] }),
    '/phases/1/subscription_coupons/0/coupon_code',
  );
  assert.is(await fault({ coupons: [other, other] }), '/phases/1/coupons/1');
  assert.is(await total(), 1, 'a faulty request redeems nothing');
});

test('what was redeemed stays as it was, whatever becomes of the coupon', async () => {
  const { create, coupon, request } = await couponWorld();
  const { id } = await create({ coupons: [coupon] });
  const rename = coupons.routes?.['PUT /coupons/{id}'];
  invariant(rename, 'coupons can be renamed');
  await callRoute(rename, request(), { params: { id: coupon }, body: { name: 'Other' } });
  const state = await request().load(subscription, id);
  assert.equal(
    state?.coupons.map(({ name, discount, repetition }) => [name, discount, repetition]),
    [['Ten', { type: 'percentage', percentage_off: '10' }, { cadence: 'once' }]],
  );
  const listed = await callRoute(coupons.routes?.['GET /coupons/{id}'] as never, request(), {
    params: { id: coupon },
  } as never);
  assert.is((listed as { total_redemptions: number }).total_redemptions, 1);
});

test('a coupon is redeemed as often as it may be, however many ask at once', async () => {
  const { create, coupon, total, search } = await couponWorld({ max_redemptions: 3 });
  const asked = await Promise.allSettled(
    [...Array(8).keys()].map((index) => create({ coupons: [coupon] }, `key ${index}`)),
  );
  const made = asked.filter(({ status }) => status === 'fulfilled');
  assert.equal([made.length, await total()], [3, 3]);
  assert.is((await search()).pagination.total, 3);
  const again = await rejection(create({ coupons: [coupon] }));
  assert.equal([again.code, again.details?.reason], ['invalid_operation', 'limit_reached']);
  // A repetition of what was done is answered, and redeems nothing.
  const repeated = await Promise.allSettled(
    [...Array(8).keys()].map((index) => create({ coupons: [coupon] }, `key ${index}`)),
  );
  assert.is(repeated.filter(({ status }) => status === 'fulfilled').length, 3);
  assert.is(await total(), 3);
});

test('a coupon that does not fit is refused, and nothing is redeemed', async () => {
  const { create, coupon, offered, total } = await couponWorld();
  const faultOf = async (body: object) => {
    const { code, errors, details } = await rejection(create(body));
    return [code, errors?.[0]?.pointer ?? details?.field, details?.reason];
  };
  const euro = await offered({
    ...{ name: 'Euro', type: 'fixed', percentage_off: null, amount_off: '5', currency: 'eur' },
  });
  const late = await offered({ redeem_after: '2027-01-01T00:00:00Z' });
  const past = await offered({ redeem_before: '2025-12-31T00:00:00Z' });
  const wrong = 'validation_error';
  assert.equal(await faultOf({ coupons: [euro] }), [wrong, '/coupons/0', undefined]);
  assert.equal(await faultOf({ coupons: [coupon, coupon] }), [wrong, '/coupons/1', undefined]);
  assert.equal(await faultOf({ line_item_coupons: { price_x: [coupon] } }), [
    ...[wrong, '/line_item_coupons/price_x/0', undefined],
  ]);
  assert.equal(await faultOf({ coupons: ['coupon_x'] }), ['not_found', 'coupons.0', undefined]);
  assert.equal(await faultOf({ subscription_coupons: [{ coupon_code: 'none' }] }), [
    ...['not_found', 'subscription_coupons.0.coupon_code', undefined],
  ]);
  assert.equal(await faultOf({ coupons: [late] }), ['invalid_operation', 'coupons.0', 'inactive']);
  assert.equal(await faultOf({ coupons: [past] }), ['invalid_operation', 'coupons.0', 'ended']);
  // Faults that only the command itself finds come before anything is redeemed.
  assert.equal(await faultOf({ coupons: [coupon], start_date: day(1, 1, 2010) }), [
    ...[wrong, '/start_date', undefined],
  ]);
  assert.is(await total(), 0);
});

test('a redemption that came to nothing is given back, and another one is not', async () => {
  const { create, coupon, total, settle, request, pass } = await couponWorld();
  await create({ coupons: [coupon] });
  await create({ coupons: [coupon] });
  const record = await couponRecords.referred(request(), coupon);
  const lost = redeemCoupon(record, 'subs_lost' as SubscriptionId, 'coupons.0');
  await request().execute(couponRedemptions, coupon, lost);
  assert.is(await total(), 3);
  await settle();
  assert.is(await total(), 3, 'the request may still be on its way');
  await pass(day(1, 2));
  await settle();
  assert.is(await total(), 2);
  await settle();
  assert.equal((await request().load(couponRedemptions, coupon))?.pending, []);
});

test('a draft that is given up gives its redemptions back', async () => {
  const { create, coupon, total, settle, request, pass } = await couponWorld();
  const draft = await create({ coupons: [coupon], subscription_status: 'draft' });
  const remove = subscriptionRoutes['DELETE /subscriptions/{id}'];
  await callRoute(remove, request(), { params: { id: draft.id } });
  await reactTo(request(), couponsOfDrafts, draft.id);
  await pass(day(1, 2));
  await settle();
  await reactTo(request(), couponsOfDrafts, draft.id);
  assert.is(await total(), 0);
});

test('coupons of a draft begin with it', async () => {
  const { create, activate, coupon, associations, get } = await couponWorld();
  const draft = await create({ coupons: [coupon], subscription_status: 'draft' });
  const started = await activate(draft.id, { start_date: day(1, 20) });
  assert.is(started.coupon_associations[0]?.start_date, day(1, 20));
  assert.equal(
    (await associations()).map(({ start_date }) => start_date),
    [day(1, 20)],
  );
  assert.equal(await associations({ active_only: 'true' }), []);
  assert.is((await get(draft.id)).coupon_associations[0]?.start_date, day(1, 20));
});

test('a change of plan takes coupons of the whole along, without redeeming them again', async () => {
  const { create, coupon, priceIds, plan, change, request, pass, total } = await couponWorld();
  const target_plan_id = await plan('Better', [{ amount: '20' }]);
  const line_item_coupons = { [priceIds[0] ?? '']: [coupon] };
  const { id } = await create({ coupons: [coupon], line_item_coupons });
  await pass(day(1, 11));
  const changed = await change(id, { target_plan_id });
  assert.equal(
    changed.carry_over.map(({ kind, carried, reason }) => [kind, carried, reason]),
    [
      ['coupon', true, 'same_terms'],
      ['coupon', false, 'no_counterpart'],
    ],
  );
  await reactTo(request(), followingSubscriptions, id);
  const next = (await request().load(subscription, id))?.followed_by ?? '';
  const state = await request().load(subscription, next);
  assert.equal(
    state?.coupons.map(({ coupon_id, start_date }) => [coupon_id, start_date]),
    [[coupon, day(1, 1)]],
  );
  assert.is(await total(), 1);
});

test.run();
