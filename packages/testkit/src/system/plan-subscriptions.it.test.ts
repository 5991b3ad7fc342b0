import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually } from '../eventually.ts';
import { type SharedStack, sharedStack, type TestTenant } from '../stack.ts';
import { onTestClock } from './on-test-clock.ts';
import { untilUsageIsShown } from './usage-shown.ts';

const test = suite('subscriptions over HTTP');

let stack: SharedStack;
test.before(async () => {
  stack = await sharedStack();
});

const start = '2027-01-01T00:00:00.000Z';

/** A plan of 100 in advance and of usage in two tiers, with 100 calls free and 5 credits a month; and a customer. */
async function selling(tenant: TestTenant) {
  const meter = await tenant.ok('POST', '/meters', {
    name: 'Calls',
    event_name: 'call',
    aggregation: { type: 'SUM', field: 'n' },
  });
  const feature = await tenant.ok('POST', '/features', {
    ...{ name: 'Calls', type: 'metered', meter_id: meter.id },
  });
  const plan = await tenant.ok('POST', '/plans', { name: 'Pro' });
  const price = {
    ...{ entity_type: 'PLAN', entity_id: plan.id, currency: 'usd', billing_period: 'MONTHLY' },
    price_unit_type: 'FIAT',
  };
  await tenant.ok('POST', '/prices', {
    ...{ ...price, type: 'FIXED', billing_model: 'FLAT_FEE', amount: '100' },
    invoice_cadence: 'ADVANCE',
  });
  const calls = await tenant.ok('POST', '/prices', {
    ...{ ...price, type: 'USAGE', billing_model: 'TIERED', tier_mode: 'SLAB' },
    ...{ meter_id: meter.id, invoice_cadence: 'ARREAR' },
    tiers: [{ up_to: 1000, unit_amount: '0.02' }, { unit_amount: '0.01' }],
  });
  await tenant.ok('POST', '/entitlements', {
    ...{ plan_id: plan.id, feature_id: feature.id, feature_type: 'metered' },
    ...{ usage_limit: 100, usage_reset_period: 'MONTHLY' },
  });
  await tenant.ok('POST', '/creditgrants', {
    ...{ name: 'Monthly', scope: 'PLAN', plan_id: plan.id, credits: '5' },
    ...{ cadence: 'RECURRING', period: 'MONTHLY' },
  });
  const customer = await tenant.ok('POST', '/customers', { external_id: 'acme', name: 'Acme' });
  const subscription = await tenant.ok('POST', '/subscriptions', {
    ...{ external_customer_id: 'acme', plan_id: plan.id, currency: 'usd' },
    billing_period: 'MONTHLY',
  });
  const planId = plan.id as string;
  const priceId = calls.id as string;
  const meterId = meter.id as string;
  const ids = { id: subscription.id as string, customerId: customer.id as string };
  return { ...ids, planId, priceId, meterId };
}

test('half a year on a test clock: periods, grants, and the end with its credit', async () => {
  const tenant = await onTestClock(stack, 'half a year', start);
  const { id, customerId } = await selling(tenant);
  await tenant.moveTo('2027-06-16T00:00:00.000Z');
  const shown = await tenant.ok('GET', `/subscriptions/${id}`);
  assert.is(shown.current_period_start, '2027-06-01T00:00:00.000Z');
  const settlements = async () =>
    (await tenant.ok('GET', `/subscriptions/${id}/settlements?limit=100`)).items;
  const charged = (await settlements()).filter(
    ({ charge_amount }: { charge_amount: string }) => charge_amount === '100',
  );
  assert.is(charged.length, 6);
  const upcoming = await tenant.ok('GET', `/customers/${customerId}/grants/upcoming`);
  assert.equal(
    upcoming.items.map(({ scheduled_for }: { scheduled_for: string }) => scheduled_for),
    ['2027-07-01T00:00:00.000Z'],
  );
  const cancelled = await tenant.ok('POST', `/subscriptions/${id}/cancel`, {
    cancellation_type: 'immediate',
  });
  assert.is(cancelled.total_credit_amount, '50');
  const entries = await eventually(
    async () => {
      const [wallet] = await tenant.ok('GET', `/customers/${customerId}/wallets`);
      if (!wallet) return false;
      const { items } = await tenant.ok('GET', `/wallets/${wallet.id}/transactions`);
      return items.length === 6 && items;
    },
    () => 'the wallet never got six grants',
  );
  const amounts = entries.map(({ credit_amount }: { credit_amount: string }) => credit_amount);
  assert.equal(amounts.toSorted(), ['5', '5', '5', '5', '5', '5']);
  // Nothing was paid, so what is not used lowers the invoice that it is owed on.
  await eventually(async () => {
    const { items } = await tenant.ok('GET', `/invoices?subscription_id=${id}&limit=100`);
    const owed = items.map(({ amount_remaining: left }: { amount_remaining: string }) => left);
    return owed.toSorted().join() === '0,100,100,100,100,100,50';
  });
  await tenant.moveTo('2027-12-01T00:00:00.000Z');
  assert.is((await tenant.ok('GET', `/subscriptions/${id}`)).subscription_status, 'cancelled');
});

test('usage costs its tiers, gross, and net of what is free', async () => {
  const tenant = await stack.tenant('usage of a subscription');
  await untilUsageIsShown(tenant);
  const { id, customerId } = await selling(tenant);
  await tenant.ok('POST', '/events', {
    ...{ event_name: 'call', external_customer_id: 'acme', event_id: 'calls' },
    properties: { n: 1300 },
  });
  const ask = (body: object = {}) =>
    tenant.ok('POST', '/subscriptions/usage', { subscription_id: id, ...body });
  const answer = await eventually(
    async () => {
      const shown = await ask();
      return shown.charges[0]?.quantity === 1300 && shown;
    },
    () => 'the usage was never counted',
  );
  const [charge] = answer.charges;
  assert.equal([charge.amount, charge.exact_amount, charge.net_amount], [23, '23', '22']);
  assert.is(charge.free_quantity, '100');
  assert.equal([answer.amount, answer.net_amount, answer.display_amount], [23, '22', '$23.00']);
  assert.is(charge.meter_display_name, 'Calls');
  assert.is((await ask({ lifetime_usage: true })).exact_amount, '23');
  const past = { start_time: '2020-01-01T00:00:00Z', end_time: '2020-02-01T00:00:00Z' };
  assert.equal((await ask(past)).charges, []);
  const wrong = { subscription_id: id, start_time: past.end_time, end_time: past.start_time };
  assert.is((await tenant.call('POST', '/subscriptions/usage', wrong)).status, 400);
  const usage = await tenant.ok('GET', `/customers/usage?customer_id=${customerId}`);
  const [used] = usage.features;
  assert.equal([used.current_usage, used.total_limit, used.usage_percent], ['1300', 100, '1300']);
  assert.is(used.sources[0].subscription_id, id);
});

test('usage in a pause costs nothing and uses nothing up; of two features of a meter the more generous is free', async () => {
  const tenant = await onTestClock(stack, 'pauses and features', start);
  await untilUsageIsShown(tenant);
  const { id, meterId } = await selling(tenant);
  const used = (event_id: string, n: number, timestamp: string) =>
    tenant.ok('POST', '/events', {
      ...{ event_name: 'call', external_customer_id: 'acme', event_id, timestamp },
      properties: { n },
    });
  await tenant.moveTo('2027-01-10T00:00:00.000Z');
  await tenant.ok('POST', `/subscriptions/${id}/pause`, { pause_mode: 'immediate' });
  await tenant.moveTo('2027-01-20T00:00:00.000Z');
  await tenant.ok('POST', `/subscriptions/${id}/resume`, {});
  await tenant.moveTo('2027-01-25T00:00:00.000Z');
  await used('before', 60, '2027-01-05T00:00:00.000Z');
  await used('within', 1000, '2027-01-10T00:00:00.000Z');
  await used('after', 70, '2027-01-20T00:00:00.000Z');
  const counted = () =>
    eventually(
      async () => {
        const shown = await tenant.ok('POST', '/subscriptions/usage', { subscription_id: id });
        return shown.charges[0]?.quantity === 130 && shown.charges[0];
      },
      () => 'the usage was never counted',
    );
  assert.is((await counted()).free_quantity, '100');
  const more = await tenant.ok('POST', '/features', {
    ...{ name: 'More calls', type: 'metered', meter_id: meterId },
  });
  const own = { entity_type: 'SUBSCRIPTION', entity_id: id, feature_type: 'metered' };
  const limit = { feature_id: more.id, usage_limit: 120 };
  await tenant.ok('POST', '/entitlements', { ...own, ...limit });
  const free = await eventually(
    async () => {
      const { free_quantity } = await counted();
      return free_quantity !== '100' && free_quantity;
    },
    () => 'the other feature never counted',
  );
  assert.is(free, '120');
});

interface Shown {
  readonly version: string;
  readonly line_items: readonly { readonly price: { readonly amount: string } }[];
}

test('a plan gets a new price: its subscriptions have it, each once, though the projector stops on the way', async () => {
  const tenant = await stack.tenant('new prices');
  const plan = await tenant.ok('POST', '/plans', { name: 'Rolling' });
  const price = await tenant.ok('POST', '/prices', {
    ...{ entity_type: 'PLAN', entity_id: plan.id, currency: 'usd', billing_period: 'MONTHLY' },
    ...{ type: 'FIXED', billing_model: 'FLAT_FEE', invoice_cadence: 'ADVANCE', amount: '10' },
  });
  await tenant.ok('POST', '/customers', { external_id: 'many', name: 'Many' });
  const terms = { external_customer_id: 'many', plan_id: plan.id, currency: 'usd' };
  const count = 120;
  for (let made = 0; made < count; made += 1) {
    await tenant.ok('POST', '/subscriptions', { ...terms, billing_period: 'MONTHLY' });
  }
  await tenant.ok('PUT', `/prices/${price.id}`, { amount: '20' });
  const path = `/plans/${plan.id}/sync/subscriptions`;
  const { workflow_id } = await tenant.ok('POST', path);
  await stack.parts.projector.stop();
  await stack.parts.projector.start();
  const done = await eventually(
    async () => {
      const shown = await tenant.ok('GET', path);
      return shown.state === 'completed' && shown;
    },
    () => 'the synchronisation never ended',
  );
  assert.equal([done.workflow_id, done.checked, done.failed], [workflow_id, count, 0]);
  assert.is(done.changed, count);
  const lines = await eventually(
    async () => {
      const { items } = await tenant.ok('POST', '/subscriptions/search', { limit: 1000 });
      const shown = items.map(({ line_items, version }: Shown) => [
        version,
        ...line_items.map(({ price: { amount } }) => amount),
      ]);
      return shown.every((line: unknown[]) => line.length === 3) && shown;
    },
    () => 'the new prices never showed',
  );
  assert.equal(lines, Array(count).fill([lines[0][0], '10', '20']));
});

test('usage above what is committed to costs its factor, over all of a term', async () => {
  const tenant = await onTestClock(stack, 'commitments', start);
  await untilUsageIsShown(tenant);
  const { planId, priceId } = await selling(tenant);
  const committed = (terms: object) =>
    tenant.ok('POST', '/subscriptions', {
      ...{ external_customer_id: 'acme', plan_id: planId, currency: 'usd' },
      ...{ billing_period: 'MONTHLY', ...terms },
    });
  const whole = await committed({
    ...{ commitment_amount: '30', commitment_duration: 'QUARTERLY', overage_factor: '2' },
  });
  const config = { commitment_amount: '10', overage_factor: '1.5' };
  const single = await committed({ line_item_commitments: { [priceId]: config } });
  const used = (event_id: string, n: number, timestamp: string) =>
    tenant.ok('POST', '/events', {
      ...{ event_name: 'call', external_customer_id: 'acme', event_id, timestamp },
      properties: { n },
    });
  await tenant.moveTo('2027-02-10T00:00:00.000Z');
  await used('january', 1300, '2027-01-10T00:00:00.000Z');
  await used('february', 1000, '2027-02-05T00:00:00.000Z');
  const usageOf = (id: string) =>
    tenant.ok('POST', '/subscriptions/usage', { subscription_id: id });
  const answer = await eventually(
    async () => {
      const shown = await usageOf(single.id);
      return shown.charges[0]?.quantity === 1000 && shown;
    },
    () => 'the usage was never counted',
  );
  // 20 of February, and 18 without what is free: 10 + 10 × 1.5, and 10 + 8 × 1.5.
  assert.equal([answer.exact_amount, answer.net_amount, answer.has_overage], ['25', '22', true]);
  assert.equal(answer.charges[0].commitment_info.computed_overage_amount, '15');
  // January has used 23 of 30, and 22 without what is free: 7 + 13 × 2, and 8 + 10 × 2.
  const quarter = await usageOf(whole.id);
  assert.equal([quarter.exact_amount, quarter.net_amount], ['33', '28']);
  assert.equal(
    quarter.charges.map(
      ({ exact_amount, is_overage }: { exact_amount: string; is_overage: boolean }) => [
        exact_amount,
        is_overage,
      ],
    ),
    [
      ['7', false],
      ['26', true],
    ],
  );
  const { commitment_amount, commitment_utilized, overage_amount, overage_factor } = quarter;
  assert.equal(
    [commitment_amount, commitment_utilized, overage_amount, overage_factor, quarter.has_overage],
    [30, 7, 26, 2, true],
  );
});

test.run();
