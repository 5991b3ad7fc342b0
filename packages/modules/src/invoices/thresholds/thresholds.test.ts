import { rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { explainedInvoice } from '../explaining/explain.ts';
import { type Invoice, invoice } from '../invoice.ts';
import { withLineUsage } from '../line-usage/line-usage.ts';
import { day } from '../test-invoice-world.ts';
import { invoiceView } from '../view.ts';
import { voidInvoice } from '../voiding/decisions.ts';
import { lookAtThreshold } from './look.ts';
import { thresholdWorld, usageOf } from './test-threshold-world.ts';

const test = suite('invoices by amount');

/** An invoice in short: its reason and status, and the quantities and amounts of its lines. */
const told = ({ billing_reason, invoice_status, lines }: Invoice) =>
  `${billing_reason} ${invoice_status}: ${lines.map(({ kind, quantity, amount }) => `${kind} ${quantity} ${amount}`).join(', ')}`;

async function tenDollars(
  price: Parameters<Awaited<ReturnType<typeof thresholdWorld>>['plan']>[0],
) {
  const world = await thresholdWorld();
  const plan_id = await world.plan(price, 0);
  const { id } = await world.create({ plan_id, auto_invoice_threshold: '10' });
  return { ...world, id, plan_id };
}

test('usage that comes to the amount is invoiced, and what closes the period bills the rest (E 10.10)', async () => {
  const { id, use, look, at, of, stateOf } = await tenDollars('flat');
  use(700, day(1, 2));
  await at(day(1, 3));
  await look(id);
  assert.equal(await of(id), []);
  use(70, day(1, 4));
  await at(day(1, 5));
  await look(id);
  await look(id);
  assert.equal((await of(id)).map(told), ['AUTO_INVOICE_THRESHOLD FINALIZED: usage 770 10.01']);
  use(500, day(1, 6));
  await at(day(1, 7));
  await look(id);
  const [first, ...more] = await of(id);
  assert.is(more.length, 0);
  assert.equal([first?.period_start, first?.period_end], [day(1, 1), day(1, 5)]);
  assert.equal((await stateOf(id))?.opened?.end, day(2, 1));
  await at(day(2, 1, 3));
  assert.equal((await of(id)).map(told), [
    'AUTO_INVOICE_THRESHOLD FINALIZED: usage 770 10.01',
    'SUBSCRIPTION_CYCLE FINALIZED: usage 500 6.5',
  ]);
});

test('what is left is explained by the whole, less what was billed of it; no event belongs to it alone', async () => {
  const { id, use, look, at, of, request, usageAt } = await tenDollars('slab');
  use(400, day(1, 2));
  await at(day(1, 5));
  await look(id);
  use(500, day(1, 6));
  await at(day(2, 1, 3));
  const [first, rest] = await of(id);
  assert.ok(first && rest);
  // 150 at 7 cents, and the others at 2: 15.5, and then 500 of the second tier.
  const { lines, differences } = await explainedInvoice(request(), rest.id, { limit: 1 }, usageAt);
  assert.equal(differences, []);
  assert.is(lines[0]?.usage?.events, 900);
  assert.equal(lines[0]?.late, {
    ...{ quantity_now: '900', amount_now: '25.5', quantity: '500', amount: '10' },
    billed: [{ line_item_id: first.lines[0]?.id ?? '', quantity: '400', amount: '15.5' }],
  });
  const asked = { expand_by_source: true, group_by: undefined };
  const [whole, part] = await Promise.all(
    [first, rest].map(async (each) => {
      const shown = await withLineUsage(request(), invoiceView(each), asked as never, usageAt);
      return shown.line_items?.[0]?.usage_analytics?.length ?? null;
    }),
  );
  assert.equal([whole, part], [1, null]);
});

test('the next period begins to count anew', async () => {
  const { id, use, look, at, of } = await tenDollars('flat');
  use(800, day(1, 2));
  await at(day(1, 3));
  await look(id);
  await at(day(2, 1, 3));
  use(800, day(2, 2));
  await at(day(2, 3));
  await look(id);
  await at(day(3, 1, 3));
  assert.equal((await of(id)).map(told), [
    'AUTO_INVOICE_THRESHOLD FINALIZED: usage 800 10.4',
    'SUBSCRIPTION_CYCLE SKIPPED: usage 0 0',
    'AUTO_INVOICE_THRESHOLD FINALIZED: usage 800 10.4',
    'SUBSCRIPTION_CYCLE SKIPPED: usage 0 0',
  ]);
});

test('an end within the period bills the rest, and gives back what counts no more', async () => {
  const { id, use, look, at, of, call, settle, calls } = await tenDollars('flat');
  use(800, day(1, 2));
  await at(day(1, 3));
  await look(id);
  use(100, day(1, 4));
  calls.splice(0, 300);
  await at(day(1, 10));
  const body = { cancellation_type: 'immediate' };
  await call('POST /subscriptions/{id}/cancel', { params: { id }, body });
  await settle();
  assert.equal((await of(id)).map(told), [
    'AUTO_INVOICE_THRESHOLD FINALIZED: usage 800 10.4',
    'PRORATION FINALIZED: usage -200 -2.6',
  ]);
});

test('usage that comes late is billed once, whatever was billed by amount', async () => {
  const { id, use, look, at, of } = await tenDollars('flat');
  use(800, day(1, 2));
  await at(day(1, 3));
  await look(id);
  await at(day(2, 1, 3));
  use(100, day(1, 20));
  await at(day(3, 1, 3));
  const all = await of(id);
  assert.is(
    all.at(-1) && told(all.at(-1) as Invoice),
    'SUBSCRIPTION_CYCLE FINALIZED: usage 0 0, late_usage 100 1.3',
  );
  assert.is(usageOf(all), '11.7');
});

test('a void invoice by amount is billed by nobody, unless it is billed again', async () => {
  const world = await tenDollars('flat');
  const { id, use, look, at, of, request, settle } = world;
  use(800, day(1, 2));
  await at(day(1, 3));
  await look(id);
  const [first] = await of(id);
  await request().execute(invoice, first?.id ?? '', voidInvoice(first?.id ?? ''));
  await settle();
  use(100, day(1, 4));
  await at(day(2, 1, 3));
  assert.is((await of(id)).map(told).at(-1), 'SUBSCRIPTION_CYCLE FINALIZED: usage 100 1.3');
});

test('two who look at once make one invoice', async () => {
  const { id, use, at, of, request, usage, settle } = await tenDollars('flat');
  use(800, day(1, 2));
  await at(day(1, 3));
  await Promise.all([1, 2, 3].map(() => lookAtThreshold(request(), id, usage)));
  await settle();
  assert.is((await of(id)).length, 1);
});

test('what waits for its first payment, or is paused, is not invoiced by amount', async () => {
  const { id, use, look, at, of, call } = await tenDollars('flat');
  use(800, day(1, 2));
  await at(day(1, 3));
  const body = { pause_mode: 'immediate', pause_days: 3 };
  await call('POST /subscriptions/{id}/pause', { params: { id }, body });
  await look(id);
  assert.equal(await of(id), []);
  await at(day(1, 7));
  await look(id);
  assert.is((await of(id)).length, 1);
});

test('an amount has to be money above zero, of a subscription that stands alone and commits to nothing', async () => {
  const { create, plan_id } = await tenDollars('flat');
  const fault = async (body: object) => {
    const problem = await rejection(create({ plan_id, auto_invoice_threshold: '10', ...body }));
    return problem.errors?.[0]?.pointer;
  };
  const pointer = '/auto_invoice_threshold';
  assert.is(await fault({ auto_invoice_threshold: '0' }), pointer);
  assert.is(await fault({ auto_invoice_threshold: '0.001' }), pointer);
  assert.is(await fault({ commitment_amount: '50', overage_factor: '1' }), pointer);
  assert.is(await fault({ inheritance: { invoicing_customer_external_id: 'ada' } }), pointer);
  const { id } = await create({ plan_id, auto_invoice_threshold: null });
  assert.ok(id);
});

test.run();
