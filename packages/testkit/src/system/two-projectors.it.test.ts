import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually } from '../eventually.ts';
import { type Stack, startStack } from '../stack.ts';
import { type ClockedTenant, onTestClock } from './on-test-clock.ts';
import { openings } from './openings.ts';
import { type ProjectorProcess, startProjectorProcess } from './projector-processes.ts';

const test = suite('two projectors at once, killed in turn');

const day = (month: string, date: string): string => `2027-${month}-${date}T00:00:00.000Z`;
const start = day('01', '01');

/** The instants at which something falls due for most subscriptions at once. */
const stops = [day('01', '11'), day('01', '21'), day('02', '11'), day('03', '01')];

/** Subscriptions of each kind. */
const copies = 4;

/** The charges of each subscription of a kind, by the day; a credit is negative. */
const charged: Readonly<Record<string, readonly string[]>> = {
  trial: ['01-11 31', '02-11 31'],
  paused: ['01-01 31', '02-11 31'],
  cancelled: ['01-01 31', '01-21 -11'],
  ended: ['01-01 20'],
  phased: ['01-01 31', '02-01 31', '03-01 31'],
  added: ['01-01 21', '01-01 31', '02-01 31', '03-01 31'],
  changed: ['01-01 31'],
  parent: ['01-01 31', '02-01 31', '03-01 31'],
};

/** The things that time does to each of a kind, with how often. */
const happened: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  trial: { PeriodOpened: 3, PeriodClosed: 2, TrialEnded: 1, CreditsGranted: 2, RenewalNoticed: 1 },
  paused: {
    ...{ PeriodOpened: 2, PeriodClosed: 1, PauseStarted: 1, PauseEnded: 1 },
    ...{ CreditsGranted: 3, RenewalNoticed: 1 },
  },
  cancelled: { PeriodOpened: 1, PeriodClosed: 1, CreditsGranted: 1, SubscriptionCancelled: 1 },
  ended: { PeriodOpened: 1, PeriodClosed: 1, CreditsGranted: 1, SubscriptionCancelled: 1 },
  phased: {
    ...{ PeriodOpened: 3, PeriodClosed: 2, PhaseBegun: 1, CreditsGranted: 3, RenewalNoticed: 2 },
  },
  added: {
    ...{ PeriodOpened: 3, PeriodClosed: 2, AddonBegun: 1, AddonEnded: 1 },
    ...{ CreditsGranted: 3, RenewalNoticed: 2 },
  },
  changed: {
    ...{ PeriodOpened: 1, PeriodClosed: 1, PlanChanged: 1, SubscriptionCancelled: 1 },
    ...{ CreditsGranted: 1, RenewalNoticed: 1 },
  },
  parent: { PeriodOpened: 3, PeriodClosed: 2, CreditsGranted: 3, RenewalNoticed: 2 },
  heir: { PeriodOpened: 3, PeriodClosed: 2 },
  following: { PeriodOpened: 2, PeriodClosed: 1, RenewalNoticed: 1 },
};

const acts = new Set(Object.values(happened).flatMap((counts) => Object.keys(counts)));

test('each step of time and each reaction to it happens once, and none is missing', async () => {
  const opened = openings();
  try {
    const stack = opened.add(await startStack(), (one) => one.stop());
    const tenant = await onTestClock(stack, 'two-projectors', start);
    const sold = await sell(tenant);
    // Only processes that can be killed are to do what is due.
    await stack.parts.projector.stop();
    const first = await startProjectorProcess(stack, opened);
    const second = await startProjectorProcess(stack, opened);
    // The one that came first does what is due. With its death the other one does, and is the next to die.
    for (const [place, to] of stops.entries()) {
      const victim = place % 2 === 0 ? first : second;
      await Promise.all([tenant.moveTo(to), killAtWork(stack, victim)]);
    }

    for (const [kind, expected] of Object.entries(charged)) {
      for (const id of sold.ids(kind)) {
        assert.equal(await chargesOf(tenant, id), expected, `charges of ${kind}`);
        assert.equal(await stepsOf(stack, tenant, id), happened[kind], `steps of ${kind}`);
      }
    }
    await assertFollowed(stack, tenant, sold.other);
    await assertInherited(stack, tenant);
    // Five credits for each grant; the rest of what each that was cancelled has not paid for lowers its invoice.
    const grants = ['trial', 'paused', 'cancelled', 'ended', 'phased', 'added', 'changed', 'parent']
      .map((kind) => happened[kind]?.CreditsGranted ?? 0)
      .reduce((sum, count) => sum + count, 0);
    const credits = String(copies * 5 * grants);
    await eventually(
      async () => (await balances(tenant)).join() === credits,
      () => `the wallets never had ${credits}`,
    );
    for (const id of sold.ids('cancelled')) {
      await eventually(async () => (await adjustmentsOf(tenant, id)).join() === '11');
    }
  } finally {
    await opened.closeAll();
  }
});

/** Kills a projector when some of what is due has been done: the advance of the clock is one event, and each step another. */
async function killAtWork({ store }: Stack, projector: ProjectorProcess): Promise<void> {
  for (let event = 0; event < 3; event += 1) {
    const before = await store.head();
    await eventually(async () => (await store.head()) > before);
  }
  await projector.killAndRestart();
}

/** Some subscriptions of each kind, in one plan whose price is 31 a month. */
async function sell(tenant: ClockedTenant) {
  const ids = new Map<string, string[]>();
  const [one, other] = [await planOf(tenant, '31'), await planOf(tenant, '62')];
  await tenant.ok('POST', '/creditgrants', {
    ...{ name: 'Monthly', scope: 'PLAN', plan_id: one, credits: '5' },
    ...{ cadence: 'RECURRING', period: 'MONTHLY' },
  });
  const addon = await tenant.ok('POST', '/addons', { name: 'More', lookup_key: 'more' });
  await tenant.ok('POST', '/prices', price('ADDON', addon.id, '31'));
  await tenant.ok('POST', '/customers', { external_id: 'acme', name: 'Acme' });
  await tenant.ok('POST', '/customers', { external_id: 'ben', name: 'Ben' });
  const subscribe = async (kind: string, body: object = {}): Promise<string> => {
    const { id } = await tenant.ok('POST', '/subscriptions', {
      ...{ external_customer_id: 'acme', plan_id: one, currency: 'usd' },
      ...{ billing_period: 'MONTHLY', proration_behavior: 'create_prorations', ...body },
    });
    ids.set(kind, [...(ids.get(kind) ?? []), id]);
    return id;
  };
  const [first, second] = stops;
  for (let copy = 0; copy < copies; copy += 1) {
    await subscribe('trial', { trial_period_days: 10 });
    const paused = await subscribe('paused');
    await tenant.ok('POST', `/subscriptions/${paused}/pause`, {
      ...{ pause_mode: 'scheduled', pause_start: first, pause_end: second },
    });
    const cancelled = await subscribe('cancelled');
    await tenant.ok('POST', `/subscriptions/${cancelled}/cancel`, {
      ...{ cancellation_type: 'scheduled_date', cancel_at: second },
    });
    await subscribe('ended', { end_date: second });
    const phases = [{ start_date: start, end_date: second }, { start_date: second }];
    await subscribe('phased', { phases });
    await tenant.ok('POST', '/subscriptions/addon', {
      ...{ subscription_id: await subscribe('added'), addon_id: addon.id, cadence: 'onetime' },
      ...{ start_date: first, proration_behavior: 'create_prorations' },
    });
    await tenant.ok('POST', `/subscriptions/${await subscribe('changed')}/change/execute`, {
      ...{ target_plan_id: other, change_at: 'end_of_period' },
    });
    const inheritance = { external_customer_ids_to_inherit_subscription: ['ben'] };
    await subscribe('parent', { inheritance });
  }
  return { other, ids: (kind: string): readonly string[] => ids.get(kind) ?? [] };
}

async function planOf(tenant: ClockedTenant, amount: string): Promise<string> {
  const { id } = await tenant.ok('POST', '/plans', { name: `Plan of ${amount}` });
  await tenant.ok('POST', '/prices', price('PLAN', id, amount));
  return id;
}

const price = (entity_type: string, entity_id: string, amount: string) => ({
  ...{ entity_type, entity_id, amount, type: 'FIXED', billing_model: 'FLAT_FEE' },
  ...{ billing_period: 'MONTHLY', invoice_cadence: 'ADVANCE', currency: 'usd' },
  ...{ price_unit_type: 'FIAT', start_date: start },
});

/** The settlements of a subscription, in the order of their days and amounts. */
async function chargesOf(tenant: ClockedTenant, id: string): Promise<readonly string[]> {
  const { items } = await tenant.ok('GET', `/subscriptions/${id}/settlements?limit=100`);
  return items
    .map(({ at, net_amount }: Record<string, string>) => `${at?.slice(5, 10)} ${net_amount}`)
    .sort();
}

/** The amounts by which invoices of a subscription were lowered. */
async function adjustmentsOf(tenant: ClockedTenant, id: string): Promise<readonly string[]> {
  const { items } = await tenant.ok('GET', `/invoices?subscription_id=${id}`);
  return items
    .map(({ adjustment_amount }: Record<string, string>) => adjustment_amount)
    .filter((amount: string) => amount !== '0');
}

/** The number of times that each thing has happened to a subscription that time does. */
async function stepsOf(stack: Stack, tenant: ClockedTenant, id: string) {
  const counts: Record<string, number> = {};
  for await (const { type } of stack.store.readStream(
    `subscription-${tenant.environmentId}.${id}`,
  )) {
    if (acts.has(type)) counts[type] = (counts[type] ?? 0) + 1;
  }
  return counts;
}

const subscriptionsOf = async (
  tenant: ClockedTenant,
  isOne: (shown: { plan_id: string; subscription_type: string }) => boolean,
): Promise<readonly string[]> => {
  const { items } = await tenant.ok('GET', '/subscriptions?limit=100&status=published');
  return items.filter(isOne).map(({ id }: { id: string }) => id);
};

/** Each change of plan was followed by one subscription. */
async function assertFollowed(stack: Stack, tenant: ClockedTenant, plan: string): Promise<void> {
  const ids = await subscriptionsOf(tenant, ({ plan_id }) => plan_id === plan);
  assert.is(ids.length, copies);
  for (const id of ids) {
    assert.equal(await chargesOf(tenant, id), ['02-01 62', '03-01 62']);
    assert.equal(await stepsOf(stack, tenant, id), happened.following);
  }
}

/** Those who inherit have lived through what their parents have. */
async function assertInherited(stack: Stack, tenant: ClockedTenant): Promise<void> {
  const ids = await subscriptionsOf(
    tenant,
    ({ subscription_type }) => subscription_type === 'inherited',
  );
  assert.is(ids.length, copies);
  for (const id of ids) {
    await eventually(async () => (await stepsOf(stack, tenant, id)).PeriodOpened === 3);
    assert.equal(await stepsOf(stack, tenant, id), happened.heir);
  }
}

const balances = async (tenant: ClockedTenant): Promise<readonly string[]> =>
  (await tenant.ok('GET', '/wallets?limit=100')).items.map(
    ({ credit_balance }: { credit_balance: string }) => credit_balance,
  );

test.run();
