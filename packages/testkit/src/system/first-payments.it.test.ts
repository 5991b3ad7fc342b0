import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually } from '../eventually.ts';
import { type SharedStack, sharedStack } from '../stack.ts';
import { onTestClock } from './on-test-clock.ts';
import { untilUsageIsShown } from './usage-shown.ts';

const test = suite('first payments and invoices by amount, over HTTP');

let stack: SharedStack;
test.before(async () => {
  stack = await sharedStack();
});

const day = (date: string) => `2027-${date}T00:00:00.000Z`;

async function soldTo(seed: string) {
  const tenant = await onTestClock(stack, seed, day('01-01'));
  const post = (path: string, body: object) => tenant.ok('POST', path, body);
  const { id: meter_id } = await post('/meters', {
    ...{ name: 'Calls', event_name: 'call', aggregation: { type: 'SUM', field: 'count' } },
  });
  const { id: plan_id } = await post('/plans', { name: 'Pro' });
  const price = {
    ...{ entity_type: 'PLAN', entity_id: plan_id, currency: 'usd', billing_period: 'MONTHLY' },
    ...{ billing_model: 'FLAT_FEE', start_date: '2020-01-01T00:00:00Z' },
  };
  await post('/prices', { ...price, type: 'FIXED', invoice_cadence: 'ADVANCE', amount: '30' });
  await post('/prices', {
    ...{ ...price, type: 'USAGE', invoice_cadence: 'ARREAR', amount: '0.01', meter_id },
  });
  await post('/customers', { name: 'Ada', external_id: 'ada' });
  const create = (body: object) =>
    post('/subscriptions', {
      ...{ external_customer_id: 'ada', plan_id, currency: 'usd', billing_period: 'MONTHLY' },
      ...body,
    });
  const subscription = (id: string) => tenant.ok('GET', `/subscriptions/${id}`);
  return { tenant, post, create, subscription };
}

test('a subscription waits for its first payment, and ends without it', async () => {
  const { tenant, create, subscription, post } = await soldTo('waits');
  const terms = { collection_method: 'send_invoice', payment_behavior: 'default_incomplete' };
  const [paid, unpaid] = [await create(terms), await create(terms)];
  const { latest_invoice: owed } = paid;
  assert.equal(
    [paid.subscription_status, owed.invoice_status, owed.amount_remaining],
    ['incomplete', 'FINALIZED', '30'],
  );
  await post('/payments', {
    ...{ destination_type: 'INVOICE', destination_id: owed.id, currency: 'usd' },
    ...{ payment_method_type: 'OFFLINE', amount: '30' },
  });
  const becomes = (id: string, status: string) =>
    eventually(
      async () => {
        const shown = await subscription(id);
        return shown.subscription_status === status && shown;
      },
      () => `${id} never became ${status}`,
    );
  assert.is((await becomes(paid.id, 'active')).latest_invoice.payment_status, 'SUCCEEDED');
  await tenant.moveTo(day('01-06'));
  const { latest_invoice: gone } = await becomes(unpaid.id, 'cancelled');
  assert.is(gone.invoice_status, 'VOIDED');
  assert.is((await subscription(paid.id)).subscription_status, 'active');
});

test('usage that comes to the amount is invoiced as soon as it is seen', async () => {
  const { tenant, create, post } = await soldTo('amount');
  await untilUsageIsShown(tenant);
  const { id } = await create({ auto_invoice_threshold: '10' });
  await tenant.moveTo(day('01-03'));
  const used = { event_name: 'call', external_customer_id: 'ada', timestamp: day('01-02') };
  await post('/events', { ...used, event_id: 'amount-1', properties: { count: 1001 } });
  const invoice = await eventually(
    async () => {
      const { items } = await post('/invoices/search', {
        ...{ subscription_id: id, billing_reason: 'AUTO_INVOICE_THRESHOLD' },
      });
      return items[0]?.invoice_status === 'FINALIZED' && items[0];
    },
    () => 'the usage was never invoiced',
  );
  assert.equal([invoice.total, invoice.period_end], ['10.01', day('01-03')]);
  await post('/events', { ...used, event_id: 'amount-2', properties: { count: 500 } });
  await tenant.moveTo('2027-02-01T03:00:00.000Z');
  const cycle = await eventually(
    async () => {
      const { items } = await post('/invoices/search', {
        ...{ subscription_id: id, billing_reason: 'SUBSCRIPTION_CYCLE' },
      });
      return items[0]?.invoice_status === 'FINALIZED' && items[0];
    },
    () => 'the period was never invoiced',
  );
  const amounts = cycle.line_items.map((line: { amount: string }) => line.amount);
  assert.equal(amounts, ['5', '30']);
});

test.run();
