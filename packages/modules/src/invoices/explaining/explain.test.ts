import { invalidOperation } from '@counterfoil/kernel';
import { rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { UsageAt } from '../computing-again/again.ts';
import { invoice } from '../invoice.ts';
import { day, invoiceWorld } from '../test-invoice-world.ts';
import { explainedInvoice } from './explain.ts';
import { explainQuerySchema, invoiceExplanationSchema } from './schema.ts';

const test = suite('explanations of invoices');

async function explainingWorld() {
  const world = await invoiceWorld();
  const explain = async (id: string, query: object = {}, at: UsageAt = world.usageAt) => {
    const asked = explainQuerySchema.parse(query);
    const shown = await explainedInvoice(world.request(), id, asked, at);
    return invoiceExplanationSchema.parse(shown);
  };
  return {
    ...world,
    explain,
    /** The last invoice, whatever its state. */
    last: async () => {
      const found = (await world.invoices()).at(-1);
      assert.ok(found);
      return found;
    },
  };
}

/** January with 1,300 calls, ten percent off, ten percent of tax, and five credits. */
async function january() {
  const world = await explainingWorld();
  const { id: coupon } = await world.coupon();
  const { id: walletId } = await world.wallet('5');
  await world.create({ coupons: [coupon] });
  world.use(1300, day(1, 3));
  await world.pass(day(2, 1, 3));
  return { ...world, walletId, cycle: await world.last() };
}

test('every figure is told down to its terms', async () => {
  const { explain, cycle } = await january();
  const shown = await explain(cycle.id);
  assert.equal(shown.differences, []);
  assert.equal([shown.position, shown.rules, shown.invoice_status], ['1300', 1, 'FINALIZED']);
  const [calls, base] = shown.lines;
  assert.ok(calls?.usage?.allowance && calls.cost && base?.proration);
  const { usage, cost } = calls;
  assert.equal(
    [usage.aggregation, usage.events, usage.measured, usage.taken, usage.billable],
    ['COUNT', 1300, '1300', '100', '1200'],
  );
  assert.equal(
    [usage.allowance?.limit, usage.allowance?.windows_total, usage.stretches.length],
    ['100', 1, 1],
  );
  const [charge] = cost.charges;
  assert.ok(charge?.billing_model === 'TIERED');
  assert.equal(
    charge.tiers.map(({ quantity, unit_amount, amount }) => [quantity, unit_amount, amount]),
    [
      ['1000', '0.02', '20'],
      ['200', '0.01', '2'],
    ],
  );
  assert.equal([calls.amount, calls.net_amount, calls.tax_amount], ['22', '19.8', '1.98']);
  assert.equal(calls.prepaid_credits_applied, '5');
  assert.is(calls.settlement?.reason, 'period_closed');
  assert.equal(
    [base.proration.full_amount, base.proration.amount, base.settlement?.reason],
    ['100', '100', 'period_opened'],
  );
});

test('coupons, taxes, credits and sums are told with the share of each line', async () => {
  const { explain, cycle } = await january();
  const { coupons, taxes, credits, sums, lines } = await explain(cycle.id);
  const [calls, base] = lines.map(({ line_item_id }) => line_item_id);
  assert.equal(
    coupons.map(({ percentage_off, original_price, discounted_amount, shares }) => [
      percentage_off,
      original_price,
      discounted_amount,
      shares,
    ]),
    [
      [
        '10',
        '122',
        '12.2',
        [
          { line_item_id: calls, amount: '2.2' },
          { line_item_id: base, amount: '10' },
        ],
      ],
    ],
  );
  assert.equal(
    taxes.map(({ percentage, taxable_amount, tax_amount }) => [
      percentage,
      taxable_amount,
      tax_amount,
    ]),
    [['10', '109.8', '10.98']],
  );
  assert.equal(
    credits.map(({ amount, allowed_price_types, shares }) => [amount, allowed_price_types, shares]),
    [['5', ['USAGE'], [{ line_item_id: calls, amount: '5' }]]],
  );
  const total = sums.find(({ figure }) => figure === 'total');
  assert.equal(
    total?.terms.map(({ name, amount }) => `${name} ${amount}`),
    ['subtotal 122', 'total_discount -12.2', 'total_prepaid_credits_applied -5', 'total_tax 10.98'],
  );
  assert.is(total?.amount, '115.78');
});

test('two coupons of the whole have each their own share', async () => {
  const { explain, coupon, create, last, settle } = await explainingWorld();
  const { id: ten } = await coupon();
  const { id: off } = await coupon({
    name: 'Off',
    type: 'fixed',
    amount_off: '5',
    currency: 'usd',
    percentage_off: undefined,
  });
  await create({ coupons: [ten, off] });
  await settle();
  const opening = await last();
  const { coupons, differences } = await explain(opening.id);
  assert.equal(differences, []);
  assert.equal(
    coupons
      .map(({ discounted_amount, shares }) => [
        discounted_amount,
        shares.map(({ amount }) => amount),
      ])
      .toSorted(),
    coupons.map(({ discounted_amount }) => [discounted_amount, [discounted_amount]]).toSorted(),
  );
});

test('usage events of a line come page by page, in the order of time', async () => {
  const { explain, cycle } = await january();
  const [line] = cycle.lines;
  const seen: string[] = [];
  let key: string | undefined;
  do {
    const { events, lines } = await explain(cycle.id, {
      ...{ line_item_id: line?.id, limit: 600 },
      ...(key !== undefined && { iter_last_key: key }),
    });
    assert.is(lines.length, 1);
    assert.ok(events);
    seen.push(...events.events.map(({ event_id }) => event_id));
    key = events.iter_last_key ?? undefined;
    assert.is(events.has_more, key !== undefined);
  } while (key !== undefined);
  assert.is(seen.length, 1300);
  assert.equal(seen, seen.toSorted());
  assert.is(new Set(seen).size, 1300);
});

test('what came later changes nothing: usage, filters and what the wallet may pay', async () => {
  const world = await january();
  const { explain, cycle, use, call, meterId, walletId, world: clock } = world;
  const before = await explain(cycle.id);
  use(50, day(1, 20));
  await call('PUT /meters/{id}', {
    params: { id: meterId },
    body: { filters: [{ key: 'model', values: ['large'] }] },
  });
  clock.now = day(2, 2);
  await call('PUT /wallets/{id}', {
    params: { id: walletId },
    body: { config: { allowed_price_types: ['ALL'] } },
  });
  assert.equal(await explain(cycle.id), before);
});

test('usage that came late is told by what was billed of it', async () => {
  const { explain, use, pass, create, last } = await explainingWorld();
  await create();
  use(1300, day(1, 3));
  await pass(day(2, 1, 3));
  use(100, day(1, 20));
  await pass(day(3, 1, 3));
  const { lines, differences } = await explain((await last()).id);
  assert.equal(differences, []);
  const late = lines.find(({ line_kind }) => line_kind === 'late_usage');
  assert.equal(
    [late?.late?.amount_now, late?.late?.billed.map(({ amount }) => amount), late?.late?.amount],
    ['23', ['22'], '1'],
  );
  assert.is(late?.usage?.events, 1400);
});

test('a commitment of all usage is told with the share of the line, and of its rest', async () => {
  const { explain, use, pass, create, invoices } = await explainingWorld();
  await create({ commitment_amount: 20, overage_factor: 2, enable_true_up: true });
  use(1300, day(1, 3));
  await pass(day(2, 1, 3));
  use(600, day(2, 3));
  await pass(day(3, 1, 3));
  const [, january, february] = await invoices();
  assert.ok(january && february);
  const above = (await explain(january.id)).lines[1]?.shared_commitment;
  assert.equal(
    [above?.used, above?.line_amount, above?.line_overage_base, above?.line_overage],
    ['22', '22', '2', '4'],
  );
  const rest = (await explain(february.id)).lines[1];
  assert.equal([rest?.line_kind, rest?.shared_commitment?.true_up], ['true_up', '10']);
});

test('a line in the middle of a period is told with its time', async () => {
  const { explain, create, call, pass, basePriceId, last } = await explainingWorld();
  const { id } = await create({ proration_behavior: 'create_prorations' });
  await pass(day(1, 17));
  await call('POST /subscriptions/{id}/lineitems', {
    params: { id },
    body: { price_id: basePriceId },
  });
  await pass(day(1, 18));
  const { lines, differences } = await explain((await last()).id);
  assert.equal(differences, []);
  const days = (milliseconds?: string) => Number(milliseconds) / 86_400_000;
  const { proration } = lines[0] ?? {};
  assert.equal(
    [
      proration?.full_amount,
      days(proration?.billable_milliseconds),
      days(proration?.whole_milliseconds),
    ],
    ['100', 15, 31],
  );
  assert.is(proration?.amount, '48.39');
});

test('an invoice whose events are dropped tells its figures, and the months that are missing', async () => {
  const { explain, cycle } = await january();
  const at: UsageAt = () => ({
    inStretches: () =>
      Promise.reject(invalidOperation('Gone.', { reason: 'no_longer_kept', months: ['2026-01'] })),
    events: () => {
      throw new Error('no events are asked for');
    },
  });
  const shown = await explain(cycle.id, { line_item_id: cycle.lines[0]?.id }, at);
  assert.equal(
    [shown.dropped_months, shown.differences, shown.events],
    [['2026-01'], [], undefined],
  );
  const [calls] = shown.lines;
  assert.equal([calls?.amount, calls?.usage, calls?.cost], ['22', null, null]);
  assert.is(shown.usage_explained, false);
  const whole = await explain(cycle.id, {}, at);
  assert.is(whole.lines[1]?.proration?.amount, '100');
  assert.equal(
    whole.coupons[0]?.shares.map(({ amount }) => amount),
    ['2.2', '10'],
  );
});

test('an invoice with more events than a request counts lists them page by page', async () => {
  const { explain, cycle, usageAt } = await january();
  const at: UsageAt = (position) => ({
    ...usageAt(position),
    inStretches: () => Promise.reject(invalidOperation('Many.', { reason: 'limit_reached' })),
  });
  const shown = await explain(cycle.id, { line_item_id: cycle.lines[0]?.id, limit: 5 }, at);
  assert.equal([shown.usage_explained, shown.dropped_months], [false, undefined]);
  assert.equal([shown.lines[0]?.amount, shown.lines[0]?.usage], ['22', null]);
  assert.is(shown.events?.events.length, 5);
});

test('an invoice that is not there is 404, a line too, and one without figures 400', async () => {
  const { explain, cycle, request } = await january();
  assert.is((await rejection(explain('inv_none'))).code, 'not_found');
  const line = await rejection(explain(cycle.id, { line_item_id: 'inv_line_none' }));
  assert.equal([line.code, line.details?.field], ['not_found', 'line_item_id']);
  const { id: _id, ...draft } = cycle;
  await request().execute(invoice, 'inv_draft', () => [
    { type: 'InvoiceDrafted', data: { ...(draft as never as object), id: 'inv_draft' } as never },
  ]);
  assert.is((await rejection(explain('inv_draft'))).details?.reason, 'not_computed');
});

test.run();
