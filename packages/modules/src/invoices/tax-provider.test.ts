import { type Instant, instantOf } from '@counterfoil/kernel';
import { rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { computedAgain, recordedInvoice } from './index.ts';
import { answering, silent, withTax } from './test-tax-server.ts';
import { inTaxedWorld, taxedWorld } from './test-taxed-world.ts';

const test = suite('taxes by a provider');

/** Nineteen percent of what the lines of these tests come to. */
const amounts: Readonly<Record<string, string>> = { '100': '19.37', '90': '17.11', '22': '4.18' };
const nineteen = withTax('19', ({ amount }) => amounts[amount] ?? '0');

test(
  'an invoice has the taxes that the provider has said, to the last unit, and not those of the rates',
  inTaxedWorld(nineteen, async ({ make, setProvider, server, customerId }) => {
    assert.is((await make()).total_tax, '10');
    await setProvider();
    const { total_tax, total, taxes, invoice_status, line_items = [] } = await make();
    assert.equal([invoice_status, total_tax, total], ['FINALIZED', '19.37', '119.37']);
    assert.is(line_items[0]?.tax_amount, '19.37');
    const [tax] = taxes;
    assert.equal(
      [tax?.tax_rate_id, tax?.tax_rate.code, tax?.tax_rate.percentage_value, tax?.taxable_amount],
      [null, 'SALES', '19', '100'],
    );
    const [asked] = server.asked;
    assert.is(asked?.purpose, 'invoice');
    assert.is(asked?.customer.id, customerId);
    assert.equal(
      asked?.lines.map(({ amount, tax_behavior }) => [amount, tax_behavior]),
      [['100', 'exclusive']],
    );
  }),
);

test(
  'what is asked is the amount after discounts, and once for a one-off invoice that is final at once',
  inTaxedWorld(nineteen, async ({ make, setProvider, server, coupon }) => {
    await setProvider();
    const coupon_id = await coupon({ cadence: 'once' });
    const { total_tax, total } = await make({ coupons: [coupon_id] });
    assert.equal([total_tax, total], ['17.11', '107.11']);
    assert.equal(
      server.asked.map(({ lines }) => lines.map(({ amount }) => amount)),
      [['90']],
    );
  }),
);

test(
  'taxes that a request names stand, and of who is exempt, or where nothing is billed, nobody asks',
  inTaxedWorld(nineteen, async ({ make, setProvider, server, call, customerId }) => {
    await setProvider();
    assert.is(
      (await make({ tax_rate_overrides: [{ tax_rate_code: 'VAT', currency: 'usd' }] })).total_tax,
      '10',
    );
    const nothing = { subtotal: '0', total: '0', amount_due: '0', line_items: [] };
    assert.is((await make(nothing)).total_tax, '0');
    const exempt = { tax_exemption: { number: 'X1' } };
    await call('PUT /customers', { query: { id: customerId }, body: exempt });
    const { total_tax, tax_exemption } = await make();
    assert.equal([total_tax, tax_exemption?.number], ['0', 'X1']);
    assert.is(server.asked.length, 0);
  }),
);

test(
  'an invoice of a subscription is asked for when it is made final, and comes to the same whenever it is computed again',
  inTaxedWorld(nineteen, async (world) => {
    const { setProvider, create, use, invoices, request, settle } = world;
    await setProvider();
    await create();
    await settle();
    use(1300, instantOf(Date.parse('2026-01-02T00:00:00.000Z')));
    await world.passAll('2026-02-01T03:00:00.000Z' as Instant);
    const all = await invoices();
    assert.equal(
      all.map(({ invoice_status, total_tax }) => [invoice_status, total_tax]),
      [
        ['FINALIZED', '19.37'],
        ['FINALIZED', '23.55'],
      ],
    );
    const count = world.server.asked.length;
    for (const { id } of all) {
      const recorded = await recordedInvoice(request(), id);
      assert.ok(recorded);
      const again = await computedAgain(request(), recorded, { usageAt: world.usageAt });
      assert.equal(again.differences, []);
    }
    assert.is(world.server.asked.length, count, 'nobody was asked for what is recorded');
  }),
);

test(
  'a preview asks as a preview, and answers 503 with the reason where nobody answers',
  inTaxedWorld(nineteen, async (world) => {
    const { setProvider, create, settle, preview, server } = world;
    await setProvider();
    const { id } = await create();
    await settle();
    assert.is((await preview(id)).total_tax, '19.37');
    assert.is(server.asked.at(-1)?.purpose, 'preview');
    server.behaves(silent);
    const problem = await rejection(preview(id));
    assert.equal(
      [problem.code, problem.details?.reason, problem.details?.failure],
      ['service_unavailable', 'taxes_unavailable', 'timed_out'],
    );
  }),
);

test(
  'without an answer nothing is made of what a caller asks for',
  inTaxedWorld(answering({ error: 'down' }, 500), async ({ make, setProvider, typesOf }) => {
    await setProvider();
    const problem = await rejection(make());
    assert.equal([problem.code, problem.details?.failure], ['service_unavailable', 'refused']);
    assert.match(problem.message, 'it answered 500');
    assert.equal(typesOf('invoice'), []);
  }),
);

test(
  'an invoice without an answer stays a draft that says why, is tried again after longer and longer, and is final with the right taxes',
  inTaxedWorld(nineteen, async (world) => {
    const { setProvider, create, settle, invoices, server, passAll, get, messages } = world;
    await setProvider();
    server.behaves(answering('busy', 503));
    await create();
    await settle();
    const [draft] = await invoices();
    assert.ok(draft);
    const shown = await get(draft.id);
    assert.equal(
      [shown.invoice_status, shown.invoice_number, shown.tax_failure?.reason],
      ['DRAFT', null, 'refused'],
    );
    assert.is(shown.tax_failure?.retries_at, '2026-01-01T00:01:00.000Z');
    assert.equal(await messages(draft.id), ['invoice.update']);
    await passAll('2026-01-02T12:00:00.000Z' as Instant);
    const later = await get(draft.id);
    // After 1, 5, 15, 60 minutes and six hours, then a day.
    assert.is(later.tax_failure?.failures, 7);
    assert.is(later.tax_failure?.retries_at, '2026-01-03T07:21:00.000Z');
    server.behaves(nineteen);
    await passAll('2026-01-03T12:00:00.000Z' as Instant);
    const { invoice_status, total_tax, tax_failure, line_items = [] } = await get(draft.id);
    assert.equal([invoice_status, total_tax, tax_failure], ['FINALIZED', '19.37', null]);
    assert.is(line_items.length, 1);
  }),
);

test(
  'a draft that waits for its provider can be made final at once when it answers again, or without it',
  inTaxedWorld(answering('busy', 503), async (world) => {
    const { setProvider, removeProvider, create, settle, invoices, finalize } = world;
    await setProvider();
    await create();
    await settle();
    const [draft] = await invoices();
    assert.ok(draft);
    const { message } = await finalize(draft.id);
    assert.match(message, 'stays a draft until its taxes are known');
    assert.is((await finalize(draft.id)).invoice.tax_failure?.failures, 3);
    await removeProvider();
    const { invoice } = await finalize(draft.id);
    assert.equal([invoice.invoice_status, invoice.total_tax], ['FINALIZED', '10']);
  }),
);

const line = (amount: unknown, more: object = {}) => ({
  name: 'T',
  code: 'T',
  rate: '19',
  amount,
  ...more,
});
const wrongAnswers: readonly [string, (id: string) => unknown, string][] = [
  ['no JSON', () => 'taxes?', 'no JSON'],
  ['another form', () => ({ rows: [] }), 'not as documented'],
  ['a number for an amount', (id) => ({ lines: [{ id, taxes: [line(19)] }] }), 'not as documented'],
  [
    'more digits than the currency has',
    (id) => ({ lines: [{ id, taxes: [line('1.999')] }] }),
    '2 digits',
  ],
  [
    'a rate above 100',
    (id) => ({ lines: [{ id, taxes: [line('1', { rate: '101' })] }] }),
    'percentage',
  ],
  [
    'a tax above the amount',
    (id) => ({ lines: [{ id, taxes: [line('60'), line('41', { code: 'U' })] }] }),
    'more than its amount',
  ],
  ['a tax on the other side', (id) => ({ lines: [{ id, taxes: [line('-1')] }] }), 'other side'],
  ['no line', () => ({ lines: [] }), 'other lines'],
  ['another line', () => ({ lines: [{ id: 'inv_line_x', taxes: [] }] }), 'other lines'],
  [
    'a line more',
    (id) => ({
      lines: [
        { id, taxes: [] },
        { id: 'x', taxes: [] },
      ],
    }),
    'other lines',
  ],
  [
    'a line twice',
    (id) => ({
      lines: [
        { id, taxes: [] },
        { id, taxes: [] },
      ],
    }),
    'twice',
  ],
  ['a tax twice', (id) => ({ lines: [{ id, taxes: [line('1'), line('1')] }] }), 'twice'],
  ['too much', () => ({ lines: [], padding: 'x'.repeat(30_000) }), 'more than 20000 bytes'],
];

for (const [what, answer, fault] of wrongAnswers) {
  test(
    `${what} is no answer`,
    inTaxedWorld(silent, async ({ make, setProvider, server, typesOf }) => {
      await setProvider();
      server.behaves((asked, response) =>
        answering(answer(asked.lines[0]?.id ?? ''))(asked, response),
      );
      const problem = await rejection(make());
      assert.is(problem.details?.failure, 'invalid_answer', problem.message);
      assert.match(problem.message, fault);
      assert.equal(typesOf('invoice'), []);
    }),
  );
}

test(
  'a provider that is away is not asked by each of many invoices, and is asked again after its rest',
  inTaxedWorld(silent, async ({ make, setProvider, server, restPasses }) => {
    await setProvider();
    assert.is((await rejection(make())).details?.failure, 'timed_out');
    assert.is((await rejection(make())).details?.failure, 'timed_out');
    assert.is(server.asked.length, 1);
    restPasses();
    server.behaves(nineteen);
    assert.is((await make()).total_tax, '19.37');
  }),
);

test('a server that is not there is unreachable, and the message says nothing of the inside', async () => {
  const { make, setProvider, server } = await taxedWorld(nineteen);
  await setProvider();
  await server.close();
  const problem = await rejection(make());
  assert.is(problem.details?.failure, 'unreachable');
  assert.not.match(problem.message, /127|ECONN/);
});

test(
  'the same question has the same id, so that a provider can tell a repetition',
  inTaxedWorld(nineteen, async ({ create, settle, preview, setProvider, server }) => {
    await setProvider();
    const { id } = await create();
    await settle();
    await preview(id);
    await preview(id);
    const [first, second] = server.asked.slice(-2);
    assert.is(first?.id, second?.id);
    assert.is.not(server.asked[0]?.id, first?.id);
  }),
);

test(
  'an address that webhooks may not go to is refused, and the secret is never shown',
  inTaxedWorld(nineteen, async ({ setProvider, getProvider, removeProvider, server }) => {
    assert.equal(await getProvider(), {
      ...{ is_set: false, is_on: false },
      ...{ url: null, updated_at: null },
    });
    for (const url of ['http://10.0.0.1/', 'ftp://example.com/', 'https://u:p@example.com/']) {
      assert.equal((await rejection(setProvider(url))).errors?.[0]?.pointer, '/url');
    }
    await setProvider();
    const shown = await getProvider();
    assert.equal([shown.is_set, shown.url], [true, server.url]);
    assert.not.match(JSON.stringify(shown), 'whsec_');
    assert.is((await removeProvider()).is_set, false);
  }),
);

test(
  'a provider that is not on is not asked',
  inTaxedWorld(nineteen, async ({ setProvider, make, server }) => {
    await setProvider(server.url, false);
    assert.is((await make()).total_tax, '10');
    assert.is(server.asked.length, 0);
  }),
);

test.run();
