import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually } from '../eventually.ts';
import { type SharedStack, sharedStack } from '../stack.ts';
import { type ClockedTenant, onTestClock } from './on-test-clock.ts';
import { untilUsageIsShown } from './usage-shown.ts';

const test = suite('the worked month of billing, over HTTP (E 31)');

let stack: SharedStack;
test.before(async () => {
  stack = await sharedStack();
});

type Answer = Awaited<ReturnType<ClockedTenant['ok']>>;

const day = (date: string, time = '00:00') => `2027-${date}T${time}:00.000Z`;

/** Sells the plan of docs/concepts/billing.md to a customer who has ten percent off for ever, and five free credits. */
async function sold(tenant: ClockedTenant) {
  const post = (path: string, body: object) => tenant.ok('POST', path, body);
  const { id: meter_id } = await post('/meters', {
    ...{ name: 'Calls', event_name: 'call', aggregation: { type: 'COUNT' } },
  });
  const { id: plan_id } = await post('/plans', { name: 'Pro' });
  const price = (body: object) =>
    post('/prices', {
      ...{ entity_type: 'PLAN', entity_id: plan_id, currency: 'usd', billing_period: 'MONTHLY' },
      ...{ start_date: '2020-01-01T00:00:00Z', ...body },
    });
  const fixed = (display_name: string, amount: string) =>
    price({
      ...{ type: 'FIXED', billing_model: 'FLAT_FEE', invoice_cadence: 'ADVANCE' },
      ...{ display_name, amount },
    });
  await fixed('Base', '100');
  await price({
    ...{ type: 'USAGE', billing_model: 'TIERED', tier_mode: 'SLAB', invoice_cadence: 'ARREAR' },
    ...{ display_name: 'Calls', meter_id },
    tiers: [{ up_to: 1000, unit_amount: '0.02' }, { unit_amount: '0.01' }],
  });
  const { id: feature_id } = await post('/features', { name: 'Calls', type: 'metered', meter_id });
  await post('/entitlements', {
    ...{ plan_id, feature_id, feature_type: 'metered' },
    ...{ usage_limit: 100, usage_reset_period: 'MONTHLY' },
  });
  const { id: customer_id } = await post('/customers', { name: 'Ada', external_id: 'ada' });
  await post('/taxes/rates', { name: 'VAT', code: 'VAT', percentage_value: '10' });
  await post('/taxes/associations', {
    ...{ tax_rate_code: 'VAT', entity_type: 'customer', entity_id: customer_id },
  });
  const { id: coupon } = await post('/coupons', {
    ...{ name: 'Ten', type: 'percentage', percentage_off: '10', cadence: 'forever' },
  });
  const { id: walletId } = await post('/wallets', {
    ...{ customer_id, currency: 'usd', initial_credits_to_load: '5' },
  });
  const { id } = await post('/subscriptions', {
    ...{ customer_id, plan_id, currency: 'usd', billing_period: 'MONTHLY' },
    ...{ coupons: [coupon], proration_behavior: 'create_prorations' },
  });
  return { id: id as string, walletId: walletId as string, fixed };
}

/** The looks and acts of the month. */
function month(tenant: ClockedTenant, { id, walletId }: { id: string; walletId: string }) {
  const invoiceOf = async (billing_reason: string): Promise<Answer | undefined> => {
    const { items } = await tenant.ok('POST', '/invoices/search', {
      ...{ subscription_id: id, billing_reason },
    });
    return items[0];
  };
  return {
    invoiceOf,
    /** The one invoice with a reason, once it is final. */
    final: (reason: string): Promise<Answer> =>
      eventually(
        async () => {
          const found = await invoiceOf(reason);
          return found?.invoice_status === 'FINALIZED' && found;
        },
        () => `no final invoice ${reason}`,
      ),
    /** Pays all of an invoice, and waits until that can be read. */
    async pay(invoice: Answer) {
      await tenant.ok('POST', '/payments', {
        ...{ destination_type: 'INVOICE', destination_id: invoice.id, currency: 'usd' },
        ...{ payment_method_type: 'OFFLINE', amount: invoice.total },
      });
      await eventually(
        async () => {
          const shown = await tenant.ok('GET', `/invoices/${invoice.id}`);
          return shown.payment_status === 'SUCCEEDED';
        },
        () => `${invoice.id} was never paid`,
      );
    },
    /** Waits until the wallet has so many credits, and no hold. */
    async untilWalletHas(credits: string) {
      let seen = '';
      const look = async () => {
        const shown = await tenant.ok('GET', `/wallets/${walletId}/balance/real-time`);
        seen = `${shown.credit_balance}, ${shown.credits_held} held`;
        return seen === `${credits}, 0 held`;
      };
      await eventually(look, () => `the wallet has ${seen}, not ${credits}`);
    },
    /** The balance of the wallet less what it is going to pay, with the usage and the invoices among that. */
    async left(): Promise<readonly string[]> {
      const shown = await tenant.ok('GET', `/wallets/${walletId}/balance/real-time`);
      const { real_time_balance, current_period_usage, unpaid_invoices_amount } = shown;
      return [real_time_balance, current_period_usage, unpaid_invoices_amount];
    },
    /** So many calls, a minute between them, and what the usage of the running period costs once all are counted. */
    async use(count: number, from: string): Promise<Answer> {
      const calls = Array.from({ length: count }, (_, minute) => ({
        ...{ event_name: 'call', external_customer_id: 'ada' },
        timestamp: new Date(Date.parse(from) + minute * 60_000).toISOString(),
      }));
      for (const events of [calls.slice(0, 1000), calls.slice(1000)]) {
        if (events.length === 0) continue;
        const { status, text } = await tenant.call('POST', '/events/bulk', { events });
        assert.is(status, 202, text);
      }
      return eventually(
        async () => {
          const shown = await tenant.ok('POST', '/subscriptions/usage', { subscription_id: id });
          return shown.charges[0]?.exact_quantity === String(count) && shown;
        },
        () => `${count} calls were never counted`,
      );
    },
  };
}

const figures = (invoice: Answer) => ({
  lines: invoice.line_items.map(({ display_name, amount }: Answer) => `${display_name} ${amount}`),
  figures: [
    invoice.total_discount,
    invoice.total_prepaid_credits_applied,
    invoice.total_tax,
    invoice.total,
  ],
});

test('every figure of its table comes out', async () => {
  const tenant = await onTestClock(stack, 'worked month', day('01-01'));
  await untilUsageIsShown(tenant);
  const { fixed, ...sale } = await sold(tenant);
  const { invoiceOf, final, pay, untilWalletHas, left, use } = month(tenant, sale);

  const opening = await final('SUBSCRIPTION_CREATE');
  assert.equal(figures(opening), { lines: ['Base 100'], figures: ['10', '0', '9', '99'] });
  await pay(opening);

  await tenant.moveTo(day('01-25'));
  const used = await use(1300, day('01-03'));
  assert.equal([used.exact_amount, used.net_amount], ['23', '22']);
  assert.equal(await left(), ['-17', '22', '0']);

  await tenant.moveTo(day('02-01'));
  assert.is((await invoiceOf('SUBSCRIPTION_CYCLE'))?.invoice_status, 'DRAFT');
  await tenant.moveTo(day('02-01', '02:00'));
  const cycle = await final('SUBSCRIPTION_CYCLE');
  assert.equal(figures(cycle), {
    lines: ['Calls 22', 'Base 100'],
    figures: ['12.2', '5', '10.98', '115.78'],
  });
  await untilWalletHas('0');
  // 22.00 less the discount, and less the 5.00 that the wallet has paid.
  assert.equal(await left(), ['-14.8', '0', '14.8']);
  await pay(cycle);
  assert.equal(await left(), ['0', '0', '0']);

  const base = cycle.line_items.find(({ display_name }: Answer) => display_name === 'Base');
  const note = await tenant.ok('POST', '/creditnotes', {
    invoice_id: cycle.id,
    line_items: [{ invoice_line_item_id: base.id, amount: '20' }],
  });
  assert.equal([note.credit_note_type, note.total_tax, note.total_amount], ['REFUND', '2', '22']);
  const { amount_paid, refunded_amount } = note.invoice;
  assert.equal([amount_paid, refunded_amount], ['115.78', '22']);
  await untilWalletHas('22');

  await tenant.moveTo(day('02-15'));
  const { id: price_id } = await fixed('Support', '28');
  await tenant.ok('POST', `/subscriptions/${sale.id}/lineitems`, { price_id });
  const added = await final('SUBSCRIPTION_UPDATE');
  assert.equal(figures(added), { lines: ['Support 14'], figures: ['1.4', '0', '1.26', '13.86'] });
  await pay(added);

  await tenant.moveTo(day('02-22'));
  await use(600, day('02-16'));
  await tenant.ok('POST', `/subscriptions/${sale.id}/cancel`, {
    ...{ cancellation_type: 'immediate', proration_behavior: 'create_prorations' },
  });
  const last = await final('PRORATION');
  assert.equal(figures(last), { lines: ['Calls 10'], figures: ['1', '9', '0.9', '0.9'] });
  // 22.00 of the note, 22.50 and 6.30 with 2.25 and 0.63 of tax for what was not used, less 9.00 for the calls.
  await untilWalletHas('44.68');
  const { items } = await tenant.ok('GET', `/wallets/${sale.walletId}/transactions`);
  const entries = items.map(
    (entry: Answer) => `${entry.transaction_reason} ${entry.credit_amount}`,
  );
  assert.equal(entries.sort(), [
    'CREDIT_ADJUSTMENT 5',
    'CREDIT_ADJUSTMENT 9',
    'CREDIT_NOTE 22',
    'FREE_CREDIT_GRANT 5',
    'SUBSCRIPTION_CREDIT_GRANT 31.68',
  ]);
});

test.run();
