import { callRoute, pointersOf, reactTo, rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { customer } from '../../customers/index.ts';
import { offers } from '../../offers/index.ts';
import { wallets } from '../../wallets/index.ts';
import { createSubscriptionSchema } from '../schema.ts';
import { subscription } from '../subscription.ts';
import { day, subscriptionWorld } from '../test-subscription-world.ts';
import { grantedCredits } from './reactions.ts';
import { grantRoutes } from './routes.ts';

const test = suite('grants of credits');

const monthly = { cadence: 'RECURRING', period: 'MONTHLY' };

/** A world with a plan that gives credits. */
async function granting(...grants: readonly object[]) {
  const world = await subscriptionWorld();
  const { call, planId, request } = world;
  for (const grant of grants) {
    await call(offers.routes ?? {}, 'POST /creditgrants', {
      ...{ name: 'Welcome', scope: 'PLAN', plan_id: planId, credits: '10', cadence: 'ONETIME' },
      ...grant,
    });
  }
  const search = wallets.routes?.['POST /wallets/search'];
  const entries = wallets.routes?.['POST /wallets/transactions/search'];
  return {
    ...world,
    react: (id: string) => reactTo(request(), grantedCredits, id),
    upcoming: async (id: string) => {
      const route = grantRoutes['GET /subscriptions/{id}/grants/upcoming'];
      return (await callRoute(route, request(), { params: { id } })).items;
    },
    upcomingOfCustomer: async () => {
      const id = await request().holderOf(customer, 'external_id', 'ada');
      const route = grantRoutes['GET /customers/{id}/grants/upcoming'];
      return (await callRoute(route, request(), { params: { id } })).items;
    },
    balances: async () => {
      const { items } = (await callRoute(search as never, request(), { body: {} })) as {
        items: { credit_balance: string }[];
      };
      return items.map(({ credit_balance }) => credit_balance);
    },
    expiries: async () => {
      const { items } = (await callRoute(entries as never, request(), { body: {} })) as {
        items: { expiry_date?: string }[];
      };
      return items.map(({ expiry_date }) => expiry_date).reverse();
    },
  };
}

test('credits of a plan are given once, or in every period, each once', async () => {
  const { create, react, balances, upcoming, upcomingOfCustomer, pass } = await granting(
    {},
    { ...monthly, credits: '5' },
  );
  const { id } = await create();
  await react(id);
  assert.equal(await balances(), ['15']);
  const [next, ...more] = await upcoming(id);
  assert.is(more.length, 0);
  assert.is(next?.scheduled_for, day(2, 1));
  assert.is(next?.period_end, day(3, 1));
  assert.is(next?.credits, 5);
  assert.is(next?.application_reason, 'recurring_credit_grant');
  assert.equal(await upcomingOfCustomer(), [next]);
  await pass(day(4, 10));
  await react(id);
  await react(id);
  assert.equal(await balances(), ['30']);
  assert.is((await upcoming(id))[0]?.scheduled_for, day(5, 1));
});

test('a start in the past is caught up, one in the future waits', async () => {
  const cases: [start: string, given: number, next: string][] = [
    ['2025-12-31T00:00:00Z', 1, day(1, 31)],
    ['2025-10-15T00:00:00Z', 3, day(1, 15)],
    [day(3, 1), 0, day(3, 1)],
  ];
  for (const [start_date, given, next] of cases) {
    const { create, events, upcoming } = await granting(monthly);
    const { id } = await create({ start_date });
    const count = (await events(id)).filter((type) => type === 'CreditsGranted').length;
    assert.is(count, given, start_date);
    const [first, ...more] = await upcoming(id);
    assert.is(first?.scheduled_for, next, start_date);
    assert.equal(more, []);
  }
});

test('a trial gives nothing yet, and neither does a draft', async () => {
  const { create, upcoming, activate, events, pass } = await granting(monthly);
  const trial = await create({ trial_period_days: 14 });
  assert.is((await upcoming(trial.id))[0]?.scheduled_for, day(1, 15));
  const draft = await create({ subscription_status: 'draft' });
  assert.equal(await upcoming(draft.id), []);
  await pass(day(2, 10));
  assert.equal(await events(draft.id), ['SubscriptionCreated']);
  await activate(draft.id);
  assert.is((await upcoming(draft.id))[0]?.scheduled_for, day(3, 10));
});

test('E 19 credits expire as their grant says, counted from the start of their period', async () => {
  const cases: [grant: object, expiry: string | undefined][] = [
    [{}, undefined],
    [
      { expiration_type: 'DURATION', expiration_duration: 10, expiration_duration_unit: 'DAY' },
      day(2, 10),
    ],
    [
      { expiration_type: 'DURATION', expiration_duration: 1, expiration_duration_unit: 'MONTH' },
      day(2, 28),
    ],
    [{ expiration_type: 'BILLING_CYCLE' }, day(2, 28)],
  ];
  for (const [grant, expiry] of cases) {
    const { create, react, expiries, world } = await granting(grant);
    world.now = day(1, 31);
    const { id } = await create();
    await react(id);
    assert.equal(await expiries(), [expiry]);
  }
});

test('credits that had expired before they were given are passed over, and the next ones come', async () => {
  const { create, react, balances, upcoming } = await granting({
    ...monthly,
    ...{ expiration_type: 'DURATION', expiration_duration: 20, expiration_duration_unit: 'DAY' },
  });
  const { id } = await create({ start_date: '2025-10-15T00:00:00Z' });
  await react(id);
  assert.equal(await balances(), ['10'], 'those of December 15 alone');
  assert.is((await upcoming(id))[0]?.scheduled_for, day(1, 15));
});

test('credits that expire before a wallet can take them hold nothing up', async () => {
  const { create, pass, request, balances } = await granting({
    ...{ expiration_type: 'DURATION', expiration_duration: 10, expiration_duration_unit: 'DAY' },
  });
  const { id } = await create();
  await pass(day(1, 20));
  const handle = grantedCredits.on.CreditsGranted;
  for await (const event of request().history(subscription, id)) {
    if (event.type === 'CreditsGranted') await handle?.(event as never, request());
  }
  assert.equal(await balances(), ['0']);
});

/** A grant of a subscription itself, as a request for one has it. */
const own = (more: object = {}) => ({
  credit_grants: [{ name: 'Own', credits: '7', cadence: 'RECURRING', period: 'MONTHLY', ...more }],
});

test('a subscription brings grants of its own, beside those of its plan', async () => {
  const { create, react, balances, upcoming } = await granting({});
  const { id, credit_grants } = await create(own());
  await react(id);
  assert.equal(await balances(), ['17']);
  const [ofPlan, ofItself] = credit_grants;
  assert.equal(
    [ofPlan?.credits, ofPlan?.cadence, ofPlan?.start_date],
    ['10', 'ONETIME', day(1, 1)],
  );
  assert.equal(
    [ofItself?.credits, ofItself?.period, ofItself?.subscription_id, ofItself?.plan_id],
    ['7', 'MONTHLY', id, undefined],
  );
  const [next] = await upcoming(id);
  assert.equal([next?.credit_grant_id, next?.scheduled_for], [ofItself?.id, day(2, 1)]);
});

test('a grant of its own begins on its own day, and gives nothing for a period that ends after it', async () => {
  const { create, pass, react, balances, upcoming } = await granting();
  const { id } = await create(own({ start_date: day(1, 10), end_date: day(3, 20) }));
  assert.is((await upcoming(id))[0]?.scheduled_for, day(1, 10));
  await pass(day(6, 1));
  await react(id);
  assert.equal(await balances(), ['14'], 'January 10 and February 10');
  assert.equal(await upcoming(id), []);
});

test('a draft moves what was to begin with it, and keeps a later day', async () => {
  const { create, activate, upcoming, pass } = await granting();
  const [first] = own().credit_grants;
  const credit_grants = [first, { ...first, start_date: day(5, 5) }];
  const { id } = await create({ subscription_status: 'draft', credit_grants });
  await pass(day(2, 10));
  await activate(id);
  assert.equal(
    (await upcoming(id)).map(({ scheduled_for }) => scheduled_for),
    [day(3, 10), day(5, 5)],
  );
});

test('a grant that begins before its subscription, or ends before it gives anything, is refused by its field', async () => {
  const { create } = await granting();
  const cases: [grant: object, pointer: string][] = [
    [{ start_date: '2025-12-31T00:00:00Z' }, '/credit_grants/0/start_date'],
    [{ end_date: day(1, 20) }, '/credit_grants/0/end_date'],
  ];
  for (const [grant, pointer] of cases) {
    const problem = await rejection(create(own(grant)));
    assert.equal(
      problem.errors?.map((each) => each.pointer),
      [pointer],
    );
  }
  const pointers = (grant: object) =>
    pointersOf(createSubscriptionSchema.shape.credit_grants, own(grant).credit_grants);
  assert.equal(pointers({ period: null }), ['/0/period']);
  assert.equal(pointers({ scope: 'PLAN' }), ['/0/scope']);
});

test('the end of a subscription ends its grants, and what was given stays', async () => {
  const { create, react, balances, upcoming, cancel, pass } = await granting(monthly);
  const { id } = await create();
  await react(id);
  await cancel(id, { cancellation_type: 'immediate' });
  assert.equal(await upcoming(id), []);
  await pass(day(6, 1));
  await react(id);
  assert.equal(await balances(), ['10']);
});

test('a wallet that has to be made has the rates of the grant', async () => {
  const { create, react, call, request, balances } = await granting({ conversion_rate: '0.5' });
  await call(wallets.routes ?? {}, 'POST /wallets', {
    external_customer_id: 'ada',
    currency: 'usd',
  });
  const { id } = await create();
  await react(id);
  assert.equal((await balances()).toSorted(), ['0', '10']);
  assert.ok(request);
});

test.run();
