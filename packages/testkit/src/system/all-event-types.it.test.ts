import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually } from '../eventually.ts';
import { startSink } from '../sink.ts';
import { type SharedStack, sharedStack } from '../stack.ts';
import { type ClockedTenant, onTestClock } from './on-test-clock.ts';
import { untilUsageIsShown } from './usage-shown.ts';

const test = suite('one story in which a receiver sees every event type of the interface');

let stack: SharedStack;
test.before(async () => {
  stack = await sharedStack();
});

/** The types that section 6.1 of the interface lists. */
function specifiedTypes(): readonly string[] {
  const path = '../../../../docs/specification/interface.md';
  const text = readFileSync(new URL(path, import.meta.url), 'utf8');
  const [, section = ''] = text.split(/^### 6\.1 .*$/m);
  const [list = ''] = section.split(/^### /m);
  return [...list.matchAll(/`([a-z_]+(?:\.[a-z_]+)+)`/g)].map(([, type = '']) => type);
}

const day = (date: string) => `2027-${date}T00:00:00.000Z`;
const below = (threshold: string) => ({
  alert_enabled: true,
  critical: { threshold, condition: 'below' },
});

/** The catalogue: a feature that is measured and watches balances, and a plan with a fixed price and one of usage. */
async function catalogue({ ok }: ClockedTenant) {
  const feature = await ok('POST', '/features', {
    ...{ name: 'Calls', type: 'metered', alert_settings: below('10') },
    meter: { name: 'Calls', event_name: 'call', aggregation: { type: 'COUNT' } },
  });
  await ok('PUT', `/features/${feature.id}`, { name: 'All calls' });
  const { id: other } = await ok('POST', '/features', { name: 'Support', type: 'boolean' });
  const { id: plan_id } = await ok('POST', '/plans', { name: 'Pro' });
  const entitled = { plan_id, feature_id: other, feature_type: 'boolean', is_enabled: true };
  const { id: entitlement } = await ok('POST', '/entitlements', entitled);
  await ok('PUT', `/entitlements/${entitlement}`, { is_enabled: false });
  await ok('DELETE', `/entitlements/${entitlement}`);
  await ok('DELETE', `/features/${other}`);
  const price = (body: object) =>
    ok('POST', '/prices', {
      ...{ entity_type: 'PLAN', entity_id: plan_id, currency: 'usd', billing_period: 'MONTHLY' },
      ...{ billing_model: 'FLAT_FEE', start_date: '2020-01-01T00:00:00Z', ...body },
    });
  await price({ type: 'FIXED', invoice_cadence: 'ADVANCE', amount: '100' });
  const { meter_id } = feature;
  await price({ type: 'USAGE', invoice_cadence: 'ARREAR', amount: '1', meter_id });
  return plan_id as string;
}

async function customerOf({ ok }: ClockedTenant) {
  const { id } = await ok('POST', '/customers', { external_id: 'ada', name: 'Ada' });
  await ok('PUT', `/customers?id=${id}`, { name: 'Ada L.' });
  const { id: gone } = await ok('POST', '/customers', { external_id: 'bob', name: 'Bob' });
  await ok('DELETE', `/customers/${gone}`);
  return id as string;
}

/** A wallet whose credits fall and rise again, and one that is closed. */
async function walletOf({ ok }: ClockedTenant, customer_id: string) {
  const { id } = await ok('POST', '/wallets', {
    ...{ customer_id, currency: 'usd', initial_credits_to_load: '100' },
    alert_settings: below('20'),
  });
  await ok('PUT', `/wallets/${id}`, { name: 'Calls' });
  await ok('POST', `/wallets/${id}/debit`, { credits: '90' });
  const load = { credits_to_add: '90', transaction_reason: 'FREE_CREDIT_GRANT' };
  await ok('POST', `/wallets/${id}/top-up`, load);
  const { id: closed } = await ok('POST', '/wallets', { customer_id, currency: 'eur' });
  await ok('POST', `/wallets/${closed}/terminate`);
  return { id: id as string, load };
}

/** Subscriptions: one that runs, one that was a draft, and one with phases and a pause that ends. */
async function subscriptionsOf({ ok }: ClockedTenant, customer_id: string, plan_id: string) {
  const terms = { customer_id, plan_id, currency: 'usd', billing_period: 'MONTHLY' };
  const { id: draft } = await ok('POST', '/subscriptions', {
    ...terms,
    subscription_status: 'draft',
  });
  await ok('POST', `/subscriptions/${draft}/activate`, { start_date: day('01-01') });
  const { id } = await ok('POST', '/subscriptions', terms);
  const phase = await ok('POST', `/subscriptions/${draft}/phases`, { start_date: day('03-01') });
  await ok('PUT', `/subscriptions/phases/${phase.id}`, { metadata: { offer: 'spring' } });
  await ok('DELETE', `/subscriptions/phases/${phase.id}`);
  await ok('POST', `/subscriptions/${draft}/pause`, { pause_mode: 'immediate', pause_days: 5 });
  await ok('POST', `/subscriptions/${draft}/resume`, { resume_mode: 'immediate' });
  await ok('POST', `/subscriptions/${draft}/cancel`, { cancellation_type: 'immediate' });
  return id as string;
}

/** Invoices and payments: paid, credited, refused by a wallet, void, a draft, and one that nobody pays. */
async function billing({ ok }: ClockedTenant, customer_id: string) {
  const invoice = (body: object = {}) =>
    ok('POST', '/invoices', {
      ...{ customer_id, currency: 'usd', subtotal: '50', total: '50', amount_due: '50' },
      ...body,
    });
  const pay = (destination_id: string, body: object = {}) =>
    ok('POST', '/payments', {
      ...{ destination_type: 'INVOICE', destination_id, currency: 'usd', amount: '50' },
      ...{ payment_method_type: 'OFFLINE', ...body },
    });
  const paid = await invoice();
  const payment = await pay(paid.id);
  await ok('PUT', `/payments/${payment.id}`, { metadata: { reference: '7' } });
  const [line] = paid.line_items;
  const note = await ok('POST', '/creditnotes', {
    ...{ invoice_id: paid.id, process_credit_note: false },
    line_items: [{ invoice_line_item_id: line.id, amount: '5' }],
  });
  await ok('POST', `/creditnotes/${note.id}/finalize`);
  await ok('POST', `/invoices/${paid.id}/comms/trigger`);
  await ok('POST', '/wallets', { customer_id, currency: 'usd', wallet_type: 'POST_PAID' });
  const late = await invoice({ due_date: day('01-03') });
  await pay(late.id, { payment_method_type: 'CREDITS' });
  await ok('POST', `/invoices/${(await invoice()).id}/void`);
  await invoice({ invoice_status: 'DRAFT' });
}

/** The alerts that the story raises, as the log of alerts calls them. */
const alertTypes = ['low_credit_balance', 'low_ongoing_balance', 'feature_wallet_balance'];

test('all 42 of them, and each for a cause of its own', async () => {
  const tenant = await onTestClock(stack, 'every event type', day('01-01'));
  await untilUsageIsShown(tenant);
  const sink = await startSink();
  try {
    await tenant.ok('POST', '/webhooks/endpoints', { url: sink.url });
    const seen = () => new Set(sink.deliveries.map(({ body }) => JSON.parse(body).event_type));
    const until = (...types: readonly string[]) =>
      eventually(
        () => types.every((type) => seen().has(type)),
        () => `never seen: ${types.filter((type) => !seen().has(type)).join(', ')}`,
      );
    const plan = await catalogue(tenant);
    const customer = await customerOf(tenant);
    const wallet = await walletOf(tenant, customer);
    await subscriptionsOf(tenant, customer, plan);
    await billing(tenant, customer);
    const calls = Array.from({ length: 95 }, () => ({
      ...{ event_name: 'call', external_customer_id: 'ada' },
    }));
    await tenant.call('POST', '/events/bulk', { events: calls });
    await until('wallet.ongoing_balance.dropped', 'feature.wallet_balance.alert');
    await tenant.ok('POST', `/wallets/${wallet.id}/top-up`, wallet.load);
    await until('wallet.ongoing_balance.recovered');
    await tenant.moveTo(day('01-26'));
    const types = specifiedTypes();
    assert.is(types.length, 42);
    await until(...types);
    await eventually(
      async () => {
        const { items } = await tenant.ok('POST', '/alerts/search', { limit: 100 });
        const raised = new Set(items.map(({ alert_type }: { alert_type: string }) => alert_type));
        return alertTypes.every((type) => raised.has(type));
      },
      () => 'the log of alerts lacks some of them',
    );
  } finally {
    await sink.close();
  }
});

test.run();
