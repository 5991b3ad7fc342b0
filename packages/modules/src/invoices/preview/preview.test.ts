import { existing } from '@counterfoil/kernel';
import { rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { usageInStretches } from '../../usage/index.ts';
import { computed } from '../computing.ts';
import { invoice } from '../invoice.ts';
import type { InvoiceResource } from '../schema.ts';
import { billingWorld } from '../test-billing-world.ts';
import { day } from '../test-invoice-world.ts';
import type { UsageReadings } from '../usage-readings.ts';
import { previewed } from './preview.ts';
import { previewInvoiceSchema } from './schema.ts';

const test = suite('previews of invoices');

async function previewWorld() {
  const world = await billingWorld();
  return {
    ...world,
    preview: (body: object) =>
      previewed(world.request(), previewInvoiceSchema.parse(body), world.usage),
  };
}

/** The parts of an invoice that its preview tells before. */
const told = (shown: InvoiceResource) => ({
  reason: shown.billing_reason,
  period: [shown.period_start, shown.period_end],
  lines: shown.line_items?.map(({ display_name, quantity, amount, tax_amount }) => [
    display_name,
    quantity,
    amount,
    tax_amount,
  ]),
  totals: [shown.subtotal, shown.total_discount, shown.total_tax, shown.total],
});

test('a preview is what the invoice comes to when nothing else happens', async () => {
  const { create, use, preview, passAll, settle, coupon, search, world } = await previewWorld();
  const { id: subscription_id } = await create({ coupons: [await coupon()] });
  await settle();
  use(1300, day(1, 3));
  const before = world.store.log.length;
  const shown = await preview({ subscription_id });
  assert.is(world.store.log.length, before);
  assert.equal(told(shown), {
    reason: 'SUBSCRIPTION_CYCLE',
    period: [day(1, 1), day(2, 1)],
    lines: [
      ['Calls', '1200', '22', '1.98'],
      ['Base', '1', '100', '9'],
    ],
    totals: ['122', '12.2', '10.98', '120.78'],
  });
  assert.equal([shown.invoice_status, shown.invoice_number], ['DRAFT', null]);
  await passAll(day(2, 1));
  const [draft] = (await search({ invoice_status: ['DRAFT'] })).items;
  assert.ok(draft);
  assert.equal(told(draft), told(shown));
});

test('the period is the one that runs, and no other', async () => {
  const { create, preview } = await previewWorld();
  const { id: subscription_id } = await create();
  const shown = await preview({ subscription_id, period_start: day(1, 1), period_end: day(2, 1) });
  assert.is(shown.period_end, day(2, 1));
  const other = await rejection(preview({ subscription_id, period_end: day(3, 1) }));
  assert.is(other.errors?.[0]?.pointer, '/period_end');
});

test('lines that come to nothing can be hidden', async () => {
  const { create, preview } = await previewWorld();
  const { id: subscription_id } = await create();
  const shown = await preview({ subscription_id });
  assert.equal(
    shown.line_items?.map(({ amount }) => amount),
    ['0', '100'],
  );
  const hidden = await preview({ subscription_id, hide_zero_charges_line_items: true });
  assert.equal(
    hidden.line_items?.map(({ amount }) => amount),
    ['100'],
  );
});

test('a subscription that ends before shows what is billed at its end', async () => {
  const { create, preview, call, use } = await previewWorld();
  const { id: subscription_id } = await create();
  use(200, day(1, 3));
  await call('POST /subscriptions/{id}/cancel', {
    params: { id: subscription_id },
    body: {
      cancellation_type: 'scheduled_date',
      cancel_at: day(1, 20),
      proration_behavior: 'none',
    },
  });
  const shown = await preview({ subscription_id });
  assert.equal([shown.billing_reason, shown.period_end], ['PRORATION', day(1, 20)]);
  assert.equal(
    shown.line_items?.map(({ display_name, amount }) => [display_name, amount]),
    [['Calls', '2']],
  );
});

test('nothing comes of a subscription that has ended, or is unknown', async () => {
  const { create, preview, call } = await previewWorld();
  const { id: subscription_id } = await create();
  await call('POST /subscriptions/{id}/cancel', {
    params: { id: subscription_id },
    body: { cancellation_type: 'immediate' },
  });
  assert.is((await rejection(preview({ subscription_id }))).details?.reason, 'ended');
  const unknown = await rejection(preview({ subscription_id: 'subs_x' }));
  assert.equal([unknown.code, unknown.details?.field], ['not_found', 'subscription_id']);
});

/** Usage as it is told, with the questions about it: all of them, and the most that were under way at once. */
function counted({ atOnce, byNow }: UsageReadings) {
  const seen = { readings: 0, all: 0, now: 0, most: 0 };
  const counting =
    (read: UsageReadings['atOnce']): UsageReadings['atOnce'] =>
    async (context) => {
      seen.readings += 1;
      const reading = await read(context);
      const usageIn: typeof usageInStretches = async (...asked) => {
        seen.all += 1;
        seen.now += 1;
        seen.most = Math.max(seen.most, seen.now);
        await new Promise((resolve) => setImmediate(resolve));
        const tell = reading.moment.usageIn as typeof usageInStretches;
        const told = await tell(...asked);
        seen.now -= 1;
        return told;
      };
      return { ...reading, moment: { ...reading.moment, usageIn } };
    };
  return { seen, usage: { atOnce: counting(atOnce), byNow: counting(byNow) } };
}

test('late usage of many periods is asked for by four at once, as often as by the invoice, and comes to the same', async () => {
  const { create, use, request, usage, settle, passAll, search } = await previewWorld();
  const { id: subscription_id } = await create();
  await settle();
  await passAll(day(8, 2));
  for (const month of [1, 2, 4, 5, 7]) use(100 + month * 100, day(month, 20));
  use(300, day(8, 20));
  const ofPreview = counted(usage);
  const body = previewInvoiceSchema.parse({ subscription_id });
  const shown = await previewed(request(), body, ofPreview.usage);
  assert.equal(
    shown.line_items?.map(({ amount }) => amount),
    ['4', '2', '4', '8', '10', '14', '100'],
  );
  await passAll(day(9, 1));
  const [draft] = (await search({ invoice_status: ['DRAFT'] })).items;
  assert.ok(draft);
  assert.equal(told(draft), told(shown));
  const ofInvoice = counted(usage);
  const recorded = existing(await request().load(invoice, draft.id), 'invoice');
  const { cause } = recorded;
  assert.is(cause.kind, 'settlements');
  if (cause.kind !== 'settlements') return;
  const context = request();
  const read = () => ofInvoice.usage.byNow(context);
  const figures = await computed(context, { ...recorded, cause }, read, async () => true);
  assert.equal(
    figures.lines.map(({ amount }) => amount),
    shown.line_items?.map(({ amount }) => amount),
  );
  // The period itself, and the seven before it.
  assert.equal(ofPreview.seen, { readings: 1, all: 8, now: 0, most: 4 });
  assert.equal(ofInvoice.seen, { readings: 1, all: 8, now: 0, most: 1 });
});

test.run();
