import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Stack, startStack } from '../stack.ts';
import { type ClockedTenant, onTestClock } from './on-test-clock.ts';

const test = suite('invoices over HTTP');

let stack: Stack;
let tenant: ClockedTenant;
test.before(async () => {
  stack = await startStack();
  tenant = await onTestClock(stack, 'invoices', '2027-01-01T00:00:00.000Z');
});
test.after(() => stack.stop());

/** A new customer, and what makes an invoice of it. */
async function customerWith(name: string) {
  const { id } = await tenant.ok('POST', '/customers', { external_id: name, name });
  return {
    id,
    make: (amount: string, body: object = {}) =>
      tenant.ok('POST', '/invoices', {
        ...{ customer_id: id, currency: 'usd' },
        ...{ subtotal: amount, total: amount, amount_due: amount, ...body },
      }),
  };
}

test('an invoice is made, final, overdue at its due date, summed up and void', async () => {
  const { id, make } = await customerWith('acme');
  const first = await make('100', { due_date: '2027-01-05T00:00:00.000Z' });
  assert.equal([first.invoice_status, first.invoice_number], ['FINALIZED', 'INV-202701-00001']);
  await make('40.50');
  await make('7', { currency: 'eur' });
  await make('1', { invoice_status: 'DRAFT' });
  await tenant.ok('PUT', '/settings/invoice_config', { value: { prefix: 'ACME' } });
  const third = await make('5', { due_date: '2027-03-01T00:00:00.000Z' });
  assert.is(third.invoice_number, 'ACME-202701-00001');
  await tenant.moveTo('2027-01-10T00:00:00.000Z');
  const { items } = await tenant.ok('POST', '/invoices/search', {
    customer_id: id,
    amount_remaining_gt: '5',
    skip_line_items: true,
    sort: [{ field: 'amount_due', direction: 'asc' }],
    invoice_status: ['FINALIZED'],
  });
  assert.equal(
    items.map((each: Record<string, unknown>) => [
      each.total,
      each.overdue_at,
      each.line_items === undefined,
    ]),
    [
      ['7', '2027-01-02T00:00:00.000Z', true],
      ['40.5', '2027-01-02T00:00:00.000Z', true],
      ['100', '2027-01-05T00:00:00.000Z', true],
    ],
  );
  const summary = await tenant.ok('GET', `/customers/${id}/invoices/summary`);
  const sums = (revenue: string, overdue: string, count: number, overdueCount: number) => ({
    total_revenue_amount: revenue,
    total_paid_amount: '0',
    total_unpaid_amount: revenue,
    total_overdue_amount: overdue,
    total_invoice_count: count,
    paid_invoice_count: 0,
    unpaid_invoice_count: count,
    overdue_invoice_count: overdueCount,
  });
  assert.equal(
    summary.summaries.toSorted((one: { currency: string }, other: { currency: string }) =>
      one.currency < other.currency ? -1 : 1,
    ),
    [
      { currency: 'eur', ...sums('7', '7', 1, 1) },
      { currency: 'usd', ...sums('145.5', '140.5', 3, 2) },
    ],
  );
  await tenant.ok('POST', `/invoices/${first.id}/void`);
  const after = await tenant.ok('GET', `/customers/${id}/invoices/summary`);
  const usd = after.summaries.find(({ currency }: { currency: string }) => currency === 'usd');
  assert.equal(usd, { currency: 'usd', ...sums('45.5', '40.5', 2, 1) });
});

test('the coming invoice of a subscription is previewed as it will be, and nothing is written', async () => {
  const { id: customer_id } = await customerWith('previewed');
  const { id: entity_id } = await tenant.ok('POST', '/plans', { name: 'Pro' });
  await tenant.ok('POST', '/prices', {
    ...{ entity_type: 'PLAN', entity_id, currency: 'usd', billing_period: 'MONTHLY' },
    ...{ type: 'FIXED', billing_model: 'FLAT_FEE', invoice_cadence: 'ADVANCE', amount: '20' },
    start_date: '2026-01-01T00:00:00Z',
  });
  const { id: subscription_id } = await tenant.ok('POST', '/subscriptions', {
    ...{ customer_id, plan_id: entity_id, currency: 'usd', billing_period: 'MONTHLY' },
  });
  const shown = await tenant.ok('POST', '/invoices/preview', { subscription_id });
  assert.equal(
    [shown.total, shown.billing_reason, shown.period_end],
    ['20', 'SUBSCRIPTION_CYCLE', '2027-02-10T00:00:00.000Z'],
  );
  await tenant.moveTo('2027-02-11T00:00:00.000Z');
  const { items } = await tenant.ok('POST', '/invoices/search', {
    subscription_id,
    billing_reason: 'SUBSCRIPTION_CYCLE',
  });
  assert.equal(
    items.map((each: Record<string, unknown>) => [each.total, each.period_end]),
    [['20', '2027-02-10T00:00:00.000Z']],
  );
});

test.run();
