// A process that dies before or after any append of a day on which everything happens, and another one that goes on.
import { parseStreamName } from '@counterfoil/engine';
import { type Instant, shiftedBy } from '@counterfoil/kernel';
import {
  callRoute,
  MemoryStore,
  type MemoryWorld,
  memoryDueRows,
  memoryWorld,
  reactTo,
  testPrincipal,
} from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { coupons } from '../coupons/index.ts';
import { customers } from '../customers/index.ts';
import { offers, offersWith } from '../offers/index.ts';
import { addonAssociationRoutes } from './addons/routes.ts';
import { subscriptions } from './index.ts';
import { ofSubscriptions } from './of-subscriptions.ts';
import { subscription } from './subscription.ts';
import { day, subscriptionWorld, worldAggregates } from './test-subscription-world.ts';

const test = suite('deaths at every append');

/** The days on which something falls due: each is come to, so that each step is an append of its own. */
const stops = [day(1, 11), day(1, 12), day(1, 16), day(1, 20), day(2, 1), day(2, 12), day(2, 21)];

/** The log of subscriptions to which everything will happen that time does, before any of it has. */
async function everything(
  more: (world: Awaited<ReturnType<typeof subscriptionWorld>>) => Promise<unknown> = async () => {},
): Promise<MemoryStore> {
  const world = await subscriptionWorld([{ amount: '31' }, { type: 'USAGE', amount: '1' }]);
  const { call, create, pause, cancel, change, plan, planId, request } = world;
  const offered = offers.routes ?? {};
  const grant = { credits: '5', cadence: 'RECURRING', period: 'MONTHLY' };
  await call(offered, 'POST /creditgrants', {
    ...{ name: 'Monthly', scope: 'PLAN', plan_id: planId, ...grant },
  });
  const target_plan_id = await plan('More', [{ amount: '62' }]);
  const { id: addon_id } = await call(offered, 'POST /addons', { name: 'Extra', lookup_key: 'x' });
  await call(offered, 'POST /prices', {
    ...{ entity_type: 'ADDON', entity_id: addon_id, type: 'FIXED', billing_model: 'FLAT_FEE' },
    ...{ billing_period: 'MONTHLY', invoice_cadence: 'ADVANCE', currency: 'usd', amount: '15.50' },
    start_date: '2020-01-01T00:00:00Z',
  });
  await call(customers.routes, 'POST /customers', { name: 'Ben', external_id: 'ben' });
  const prorated = { proration_behavior: 'create_prorations' };
  const attach = (subscription_id: string, more: object = {}) =>
    callRoute(addonAssociationRoutes['POST /subscriptions/addon'], request('attach'), {
      body: { subscription_id, addon_id, ...prorated, ...more },
    });

  await create({ ...prorated, trial_period_days: 10 });
  const paused = await create({ ...prorated, end_date: day(2, 20) });
  await pause(paused.id, {
    ...{ pause_mode: 'scheduled', pause_start: day(1, 11), pause_end: day(1, 16) },
  });
  const changed = await create(prorated);
  await attach(changed.id);
  await call(offersWith(ofSubscriptions).routes ?? {}, 'POST /creditgrants', {
    ...{ name: 'Gift', scope: 'SUBSCRIPTION', subscription_id: changed.id, ...grant },
  });
  await change(changed.id, { target_plan_id, ...prorated, change_at: 'end_of_period' });
  const later = { start_date: day(1, 12), line_items: [] };
  await create({ ...prorated, phases: [{ start_date: day(1, 1), end_date: day(1, 12) }, later] });
  const once = await create(prorated);
  await attach(once.id, { cadence: 'onetime', start_date: day(1, 12) });
  const ended = await create(prorated);
  await cancel(ended.id, {
    ...{ cancellation_type: 'scheduled_date', cancel_at: day(1, 20), ...prorated },
  });
  const parent = await create({
    ...prorated,
    inheritance: { external_customer_ids_to_inherit_subscription: ['ben'] },
  });
  await cancel(parent.id, {
    ...{ cancellation_type: 'scheduled_date', cancel_at: day(2, 12), ...prorated },
  });
  const ten = { name: 'Ten', type: 'percentage', percentage_off: '10', cadence: 'once' };
  const coupon = (await call(coupons.routes, 'POST /coupons', ten)).id;
  await create({ coupons: [coupon] });
  await more(world);
  return world.world.store;
}

/** Another log with the same events. */
async function copyOf(store: MemoryStore): Promise<MemoryStore> {
  const copy = new MemoryStore();
  for (const { stream, revision, position: _, ...event } of store.log) {
    await copy.append(stream, [event], revision - 1);
  }
  copy.appends = 0;
  return copy;
}

/** A clock that outlives the processes: the days that are still to come. */
interface Clock {
  readonly left: Instant[];
}

const clock = (): Clock => ({ left: [...stops] });

/** One process, which lives through the days, does what is due and carries out what follows, until it dies. */
async function live(store: MemoryStore, { left }: Clock): Promise<void> {
  const world = memoryWorld(worldAggregates, store);
  for (let [now] = left; now !== undefined; [now] = left) {
    world.now = now;
    await liveThrough(world);
    left.shift();
  }
}

/** Everything that is due on a day, and all that follows from it. */
async function liveThrough({ store, now, request }: MemoryWorld): Promise<void> {
  const principal = testPrincipal();
  for (let before = -1; before !== store.log.length; ) {
    before = store.log.length;
    for (const work of subscriptions.dueWork ?? []) {
      for (const { id } of memoryDueRows(store, work, principal, now)) {
        await work.run(request(principal) as never, id);
      }
    }
    for (const id of subscriptionIds(store)) {
      for (const reaction of subscriptions.reactions ?? []) {
        if (reaction.aggregate === subscription) await reactTo(request(principal), reaction, id);
      }
    }
  }
}

const subscriptionIds = ({ log }: MemoryStore): readonly string[] => [
  ...new Set(
    log.flatMap(({ stream }) => {
      const parsed = parseStreamName(stream);
      return parsed?.category === 'subscription' ? [parsed.id] : [];
    }),
  ),
];

/** Claims of a wallet that was not made in the end are given back: they may come twice. */
const compared: ReadonlySet<string> = new Set(['subscription', 'wallet', 'coupon_redemptions']);

const categoryOf = (stream: string): string => parseStreamName(stream)?.category ?? '';

/** The members that tell which of the subscriptions came to a wallet first. */
const ofOrder: ReadonlySet<string> = new Set(['sequence', 'credit_balance_after']);

/** Everything that was recorded, without what only one log can have: ids by chance, and how often somebody asked. */
const recorded = ({ log }: MemoryStore): readonly string[] =>
  log
    .filter(
      ({ stream, type }) => type !== 'RequestWithoutEffect' && compared.has(categoryOf(stream)),
    )
    .map(({ stream, type, data }) => {
      const text = JSON.stringify(data, (key, value) => (ofOrder.has(key) ? undefined : value));
      const named = text.replaceAll(/\b([a-z_]+)_[0-9A-Z]{26}\b/g, '$1');
      return `${categoryOf(stream)} ${type} ${named}`;
    })
    .sort();

const noDifference = { more: 0, missing: [], beyond: [] };

/** A difference that can be read, of two that are long. */
const difference = (found: readonly string[], expected: readonly string[]) => ({
  more: found.length - expected.length,
  missing: expected.filter((each) => !found.includes(each)),
  beyond: found.filter((each) => !expected.includes(each)),
});

test('whatever append a process dies at, before or after it, everything happens once', async () => {
  const start = await everything();
  const clean = await copyOf(start);
  await live(clean, clock());
  const expected = recorded(clean);
  assert.ok(clean.appends > 30, 'there is much to die at');
  for (const type of ['TrialEnded', 'PauseEnded', 'PlanChanged', 'AddonEnded', 'PhaseBegun']) {
    assert.ok(
      expected.some((each) => each.startsWith(`subscription ${type} `)),
      type,
    );
  }
  for (let last = 1; last <= clean.appends; last += 1) {
    for (const fate of ['unavailable', 'written_unheard'] as const) {
      const store = await copyOf(start);
      store.fate = () => {
        if (store.appends < last) return 'written';
        store.isDown = true;
        return fate;
      };
      const days = clock();
      await live(store, days).then(
        () => assert.unreachable(`nobody died at ${last}`),
        () => undefined,
      );
      store.isDown = false;
      store.fate = () => 'written';
      await live(store, days);
      assert.equal(
        difference(recorded(store), expected),
        noDifference,
        `${fate} at append ${last}`,
      );
    }
  }
});

/** A subscription whose year is more steps than one command takes, with a pause, and an end that lies in the downtime. */
async function sellByTheDay({
  call,
  create,
  pause,
  plan,
}: Awaited<ReturnType<typeof subscriptionWorld>>): Promise<void> {
  const plan_id = await plan('Daily', [{ amount: '1', billing_period: 'DAILY' }]);
  const daily = { credits: '1', cadence: 'RECURRING', period: 'DAILY' };
  await call(offers.routes ?? {}, 'POST /creditgrants', {
    ...{ name: 'Daily', scope: 'PLAN', plan_id, ...daily },
  });
  const { id } = await create({ plan_id, billing_period: 'DAILY', end_date: day(12, 24) });
  await pause(id, {
    ...{ pause_mode: 'scheduled', pause_start: day(4, 1), pause_end: day(9, 20) },
  });
}

test('400 days of downtime are caught up to what was done by a process that was always there', async () => {
  const start = await everything(sellByTheDay);
  const [present, absent] = [await copyOf(start), await copyOf(start)];
  const visits = Array.from({ length: 14 }, (_, index) =>
    shiftedBy(day(1, 11), index * 30 * 86_400_000),
  );
  await live(present, { left: [...visits] });
  await live(absent, { left: visits.slice(-1) });
  // Those who inherit are told in fewer words what they have slept through: their own logs are compared. And nobody announces a
  // renewal that is over by the time at which its subscription is created, after a change of plan.
  const ofSteps = (store: MemoryStore) =>
    recorded(store).filter((each) => !/^subscription (HeirsTold|RenewalNoticed) /.test(each));
  assert.equal(difference(ofSteps(absent), ofSteps(present)), noDifference);
  const closed = ofSteps(absent).filter((each) => each.startsWith('subscription PeriodClosed '));
  assert.ok(closed.length > 200, `${closed.length} periods`);
});

test('two processes that do everything at once do it once', async () => {
  const start = await everything();
  const [alone, together] = [await copyOf(start), await copyOf(start)];
  await live(alone, clock());
  const days = clock();
  for (const now of days.left) {
    const worlds = [memoryWorld(worldAggregates, together), memoryWorld(worldAggregates, together)];
    await Promise.all(worlds.map((world) => liveThrough(Object.assign(world, { now }))));
  }
  assert.equal(difference(recorded(together), recorded(alone)), noDifference);
});

test.run();
