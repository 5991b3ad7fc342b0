import { callRoute, reactTo } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { offers, offersWith } from '../../offers/index.ts';
import { addonAssociationRoutes as routes } from '../addons/routes.ts';
import { ofSubscriptions } from '../of-subscriptions.ts';
import { subscription } from '../subscription.ts';
import { day, subscriptionWorld } from '../test-subscription-world.ts';
import { followingSubscriptions } from './reactions.ts';

const test = suite('add-ons and grants of credits in a change of plan');

const prorated = { proration_behavior: 'create_prorations' };

/** A subscription of 30 dollars since April 1, another plan of 60, and an add-on of 15 dollars. */
async function changing(price: object = {}) {
  const world = await subscriptionWorld([{ amount: '30' }]);
  const { call, create, request, plan } = world;
  const target_plan_id = await plan('More', [{ amount: '60' }]);
  const { id: addonId } = await call(offers.routes ?? {}, 'POST /addons', {
    name: 'Extra',
    lookup_key: 'extra',
  });
  await call(offers.routes ?? {}, 'POST /prices', {
    ...{ entity_type: 'ADDON', entity_id: addonId, type: 'FIXED', billing_model: 'FLAT_FEE' },
    ...{ billing_period: 'MONTHLY', invoice_cadence: 'ADVANCE', currency: 'usd', amount: '15' },
    ...{ start_date: '2020-01-01T00:00:00Z', ...price },
  });
  const grant = { credits: '5', cadence: 'RECURRING', period: 'WEEKLY' };
  await call(offers.routes ?? {}, 'POST /creditgrants', {
    ...{ name: 'Bonus', scope: 'ADDON', addon_id: addonId, ...grant },
  });
  const { id } = await create({ start_date: day(4, 1), ...prorated });
  await world.pass(day(4, 1));
  return {
    ...world,
    id,
    attach: (more: object = {}) =>
      callRoute(routes['POST /subscriptions/addon'], request('attach'), {
        body: { subscription_id: id, addon_id: addonId, ...prorated, ...more },
      }),
    remove: (association: string, more: object = {}) =>
      callRoute(routes['DELETE /subscriptions/addon'], request('remove'), {
        body: { addon_association_id: association, ...more },
      }),
    gift: () =>
      call(offersWith(ofSubscriptions).routes ?? {}, 'POST /creditgrants', {
        ...{ name: 'Gift', scope: 'SUBSCRIPTION', subscription_id: id, ...grant, credits: '7' },
      }),
    asked: { target_plan_id, ...prorated },
    associations: async (of: string) => {
      const route = routes['GET /subscriptions/{id}/addons/associations'];
      const all = await callRoute(route, request(), { params: { id: of } });
      return all.map(({ addon_status, start_date, end_date }) => [
        addon_status,
        start_date,
        end_date,
      ]);
    },
    follow: () => reactTo(request(), followingSubscriptions, id),
    /** The days on which credits were given, by how many. */
    given: async (of: string) => {
      const found: string[] = [];
      for await (const event of request().history(subscription, of)) {
        if (event.type !== 'CreditsGranted') continue;
        found.push(`${event.data.credits} on ${event.data.period_start.slice(5, 10)}`);
      }
      return found.sort();
    },
  };
}

const amounts = ({ lines }: { readonly lines: readonly object[] }) =>
  (lines as { kind: string; amount?: string }[]).map(({ kind, amount }) => `${kind} ${amount}`);

type CarryOver = readonly { kind: string; carried: boolean; reason: string }[];
const carried = (items: CarryOver, kind: string) =>
  items.filter((each) => each.kind === kind).map((each) => [each.carried, each.reason]);

test('one that goes on is credited on one side and charged on the other, and its credits keep their days', async () => {
  const { attach, gift, pass, change, asked, id, follow, given, associations, settled } =
    await changing();
  await attach();
  await gift();
  await pass(day(4, 16));
  const { new_subscription: next, carry_over } = await change(id, asked);
  assert.ok(next);
  assert.equal(carried(carry_over as CarryOver, 'addon'), [[true, 'same_terms']]);
  assert.equal(carried(carry_over as CarryOver, 'credit_grant'), [[true, 'same_terms']]);
  await follow();
  assert.equal(await associations(next.id), [['active', day(4, 16), undefined]]);
  const [change_of_plan] = await settled(next.id);
  assert.ok(change_of_plan);
  assert.equal(amounts(change_of_plan).sort(), [
    'charge 30',
    'charge 7.5',
    'credit 15',
    'credit 7.5',
  ]);
  await pass(day(5, 1));
  assert.equal(await given(id), [
    ...['5 on 04-01', '5 on 04-08', '5 on 04-15', '7 on 04-01', '7 on 04-08', '7 on 04-15'],
  ]);
  assert.equal(await given(next.id), ['5 on 04-22', '5 on 04-29', '7 on 04-22', '7 on 04-29']);
  const [, may] = await settled(next.id);
  assert.ok(may);
  assert.equal(amounts(may).sort(), ['charge 15', 'charge 60']);
});

test('one that was sold once and is paid for stays until its end, and is not charged again', async () => {
  const { attach, pass, change, asked, id, follow, associations, settled } = await changing();
  await attach({ cadence: 'onetime' });
  await pass(day(4, 16));
  const { new_subscription: next, carry_over } = await change(id, asked);
  assert.ok(next);
  assert.equal(carried(carry_over as CarryOver, 'addon'), [[true, 'same_terms']]);
  await follow();
  assert.equal(await associations(next.id), [['active', day(4, 16), day(5, 1)]]);
  const [sum] = await settled(next.id);
  assert.ok(sum);
  assert.equal(amounts(sum).sort(), ['charge 30', 'credit 15']);
  await pass(day(5, 2));
  const [, may] = await settled(next.id);
  assert.ok(may);
  assert.equal(amounts(may), ['charge 60']);
});

test('one that was sold once is not charged again after a pause either', async () => {
  const { attach, pass, change, asked, id, pause, settled, follow } = await changing();
  await attach({ cadence: 'onetime' });
  await pause(id, { pause_days: 5 });
  await pass(day(4, 21));
  const { new_subscription: next } = await change(id, asked);
  assert.ok(next);
  await follow();
  const [sum] = await settled(next.id);
  assert.ok(sum);
  assert.equal(amounts(sum).sort(), ['charge 30', 'credit 15']);
});

test('one that does not fit the rhythm to come is left behind, and credited', async () => {
  const { attach, pass, change, asked, id, plan } = await changing();
  await attach();
  const weekly = await plan('Weekly', [{ amount: '7', billing_period: 'WEEKLY' }]);
  await pass(day(4, 16));
  const to = { ...asked, target_plan_id: weekly, billing_period: 'ANNUAL' };
  const { carry_over, settlement } = await change(id, { ...to, billing_period: 'WEEKLY' });
  const found = carried(carry_over as CarryOver, 'addon');
  // A month is no number of weeks.
  assert.equal(found, [[false, 'other_rhythm']]);
  assert.ok(amounts(settlement).includes('credit 7.5'));
});

test('what changes until a change that was scheduled is known to it', async () => {
  const { attach, remove, gift, pass, change, asked, id, follow, given, associations, request } =
    await changing();
  const kept = await attach();
  const other = await attach();
  await gift();
  await pass(day(4, 3));
  await change(id, { ...asked, change_at: 'end_of_period' });
  await remove(other.id);
  await pass(day(5, 1));
  await follow();
  const state = await request().load(subscription, id);
  const next = state?.followed_by ?? '';
  assert.equal(await associations(next), [['active', day(5, 1), undefined]]);
  assert.ok(kept.id);
  await pass(day(5, 10));
  assert.equal(await given(next), ['5 on 05-06', '7 on 05-06']);
  assert.is((await given(id)).length, 15);
});

test('an add-on that ends before a change that was scheduled gives nothing after it', async () => {
  const world = await changing();
  const { attach, gift, remove, pass, change, asked, id, follow, given, settled, request } = world;
  const { id: association } = await attach();
  await gift();
  await change(id, { ...asked, change_at: 'end_of_period' });
  await pass(day(4, 10));
  await remove(association, { effective_date: day(4, 10) });
  await pass(day(5, 1));
  await follow();
  await pass(day(5, 20));
  assert.equal(
    (await given(id)).filter((each) => each.startsWith('5')),
    ['5 on 04-01', '5 on 04-08'],
  );
  const next = (await request().load(subscription, id))?.followed_by ?? '';
  assert.equal(await given(next), ['7 on 05-06', '7 on 05-13', '7 on 05-20']);
  assert.is((await settled(next)).length, 1);
});

test.run();
