import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually } from '../eventually.ts';
import { type Stack, startStack, type TestTenant } from '../stack.ts';
import { onTestClock } from './on-test-clock.ts';
import { untilUsageIsShown } from './usage-shown.ts';

const test = suite('subscriptions over HTTP');

let stack: Stack;
test.before(async () => {
  stack = await startStack();
});
test.after(() => stack.stop());

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
  await tenant.ok('POST', '/prices', {
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
  return { id: subscription.id as string, customerId: customer.id as string, feature };
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
      return items.length === 7 && items;
    },
    () => 'the wallet never got six grants and what was left over',
  );
  const amounts = entries.map(({ credit_amount }: { credit_amount: string }) => credit_amount);
  assert.equal(amounts.toSorted(), ['5', '5', '5', '5', '5', '5', '50']);
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

test.run();
