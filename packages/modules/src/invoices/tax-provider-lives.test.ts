import { type DecimalText, decimal, divide, type Instant, textOf } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { creditNote } from '../credit-notes/index.ts';
import { invoiceRerating, rerate, rerateInvoiceSchema } from '../rerating/index.ts';
import { endOfOrder, invoiceOfOrder, wallet } from '../wallets/index.ts';
import { computedAgain, recordedInvoice } from './index.ts';
import { invoice } from './invoice.ts';
import { purchasesDrafted } from './purchases/drafting.ts';
import { purchasesEnded } from './purchases/ending.ts';
import { applyNote } from './settling/notes.ts';
import { day, passed, settled } from './test-invoice-world.ts';
import { type Asked, answering, type Behaviour, withTax } from './test-tax-server.ts';
import { inTaxedWorld, type taxedWorld } from './test-taxed-world.ts';

const test = suite('lives of invoices with a tax provider');

/** The tax of a line at some percent, on top of its amount or in it. */
const taxAt =
  (percent: string) =>
  ({ amount, tax_behavior }: Asked['lines'][number]): string => {
    const rate = decimal(percent as DecimalText);
    const hundred = decimal('100');
    const whole = tax_behavior === 'inclusive' ? hundred.plus(rate) : hundred;
    return textOf(divide(decimal(amount as DecimalText).times(rate), whole, 2));
  };

const nineteen = withTax('19', taxAt('19'));
const busy = answering('busy', 503);

/** Says something else each time: first 19.01, then 19.02 and so on, of every line. */
function fickle(): Behaviour {
  let answers = 0;
  return (asked, response) => {
    answers += 1;
    withTax('19', () => `19.${String(answers).padStart(2, '0')}`)(asked, response);
  };
}

const isComputed = (events: readonly { readonly type: string }[]): boolean =>
  events.some(({ type }) => type === 'InvoiceComputed');

for (const fate of ['unavailable', 'lost_unheard', 'written_unheard'] as const) {
  test(
    `a process that dies between the answer and its record (${fate}) leaves one invoice with one amount`,
    inTaxedWorld(nineteen, async (world) => {
      const { setProvider, create, settle, another, invoices, server, typesOf, request } = world;
      const { store } = world.world;
      await setProvider();
      server.behaves(fickle());
      await create();
      let hasDied = false;
      store.fate = (_stream, events) => {
        if (hasDied) return 'unavailable';
        hasDied = isComputed(events);
        return hasDied ? fate : 'written';
      };
      await settle().catch(() => undefined);
      assert.ok(hasDied);
      store.fate = () => 'written';
      await settle(another());
      await settle(another());
      const [made, ...others] = await invoices();
      assert.ok(made);
      assert.equal(others, []);
      assert.is(made.invoice_status, 'FINALIZED');
      // The same question is asked again, unless the answer was recorded all the same; what was said last is the amount.
      assert.is(server.asked.length > 1, fate !== 'written_unheard');
      assert.is(new Set(server.asked.map(({ id }) => id)).size, 1);
      assert.equal([...new Set(server.asked.map(({ invoice_id }) => invoice_id))], [made.id]);
      const said = `19.0${server.asked.length}`;
      assert.equal([made.total_tax, made.total], [said, `119.0${server.asked.length}`]);
      assert.equal([made.lines[0]?.tax, made.taxes[0]?.tax_amount], [said, said]);
      assert.is(typesOf('invoice').filter((type) => type === 'InvoiceFinalized').length, 1);
      const recorded = await recordedInvoice(request(), made.id);
      assert.ok(recorded);
      const again = await computedAgain(request(), recorded, { usageAt: world.usageAt });
      assert.equal(again.differences, []);
    }),
  );
}

test(
  'an invoice of a caller whose figures were lost is made by the repetition, once',
  inTaxedWorld(nineteen, async ({ world, make, setProvider, server, invoices }) => {
    await setProvider();
    server.behaves(fickle());
    world.store.fate = (_stream, events) => (isComputed(events) ? 'unavailable' : 'written');
    await make({}, 'one').then(
      () => assert.unreachable(),
      () => undefined,
    );
    world.store.fate = () => 'written';
    const { id, total_tax } = await make({}, 'one');
    assert.is((await make({}, 'one')).id, id);
    assert.is((await invoices()).length, 1);
    assert.is(total_tax, `19.0${server.asked.length}`);
    assert.equal([...new Set(server.asked.map((asked) => asked.invoice_id))], [id]);
  }),
);

/** A customer who orders fifty credits for a hundred dollars. */
async function buying(world: Awaited<ReturnType<typeof taxedWorld>>) {
  const reactions = [...world.reactions, purchasesDrafted, purchasesEnded];
  const settle = () => settled(world.world, reactions);
  const { id: walletId } = await world.wallet('0', { topup_conversion_rate: '2' });
  const answer = await world.call('POST /wallets/{id}/top-up', {
    params: { id: walletId },
    body: { transaction_reason: 'PURCHASED_CREDIT_INVOICED', credits_to_add: '50' },
  });
  const { id: orderId } = (answer as unknown as { wallet_transaction: { id: string } })
    .wallet_transaction;
  await settle();
  return {
    ...{ walletId, orderId, invoiceId: invoiceOfOrder(orderId), settle },
    pass: (to: Instant) => passed(world.world, to, settle),
  };
}

test(
  'a purchase waits for its provider as a draft, and is final, paid and loaded once that answers',
  inTaxedWorld(busy, async (world) => {
    const { setProvider, server, get, pay, balance } = world;
    await setProvider();
    const { walletId, invoiceId, settle, pass } = await buying(world);
    const waiting = await get(invoiceId);
    assert.equal(
      [waiting.invoice_status, waiting.tax_failure?.reason, waiting.tax_failure?.retries_at],
      ['DRAFT', 'refused', '2026-01-01T00:01:00.000Z'],
    );
    await pay(invoiceId, '119');
    await settle();
    assert.is(await balance(walletId), '0', 'a draft takes no money');
    await pass('2026-01-01T00:02:00.000Z' as Instant);
    assert.is((await get(invoiceId)).tax_failure?.failures, 2);
    server.behaves(nineteen);
    await pass('2026-01-01T00:10:00.000Z' as Instant);
    const { invoice_status, total_tax, total, tax_failure } = await get(invoiceId);
    assert.equal([invoice_status, total_tax, total, tax_failure], ['FINALIZED', '19', '119', null]);
    await pay(invoiceId, '119');
    await settle();
    await settle();
    assert.is(await balance(walletId), '50');
  }),
);

test(
  'a purchase that is cancelled while its provider is away comes to nothing, and nobody is asked any more',
  inTaxedWorld(busy, async (world) => {
    const { setProvider, call, get, server, request } = world;
    await setProvider();
    const { walletId, orderId, invoiceId, settle, pass } = await buying(world);
    await call('POST /wallets/transactions/{id}/cancel', { params: { id: orderId } });
    await settle();
    assert.is((await get(invoiceId)).invoice_status, 'VOIDED');
    const count = server.asked.length;
    server.behaves(nineteen);
    await pass(day(1, 3));
    assert.is(server.asked.length, count);
    assert.is(endOfOrder(await request().load(wallet, walletId), orderId), 'failed');
  }),
);

test(
  'a price with tax in it stays what it was: the provider says what of it is tax, to the end',
  inTaxedWorld(nineteen, async (world) => {
    const { setProvider, post, planId, create, settle, preview, server, request } = world;
    const { id: price_id } = await post('/prices', {
      ...{ entity_type: 'PLAN', entity_id: planId, currency: 'usd', type: 'FIXED' },
      ...{ billing_model: 'FLAT_FEE', billing_period: 'MONTHLY', invoice_cadence: 'ADVANCE' },
      ...{ amount: '110', tax_behavior: 'inclusive', display_name: 'Support' },
      start_date: '2020-01-01T00:00:00Z',
    });
    await setProvider();
    const { id } = await create();
    await settle();
    const [made] = await world.invoices();
    assert.ok(made);
    assert.equal(
      server.asked.at(-1)?.lines.map(({ amount, tax_behavior }) => [amount, tax_behavior]),
      [
        ['100', 'exclusive'],
        ['110', 'inclusive'],
      ],
    );
    // 110 × 19 ÷ 119 is in the price, and 19 come on top of the other line.
    assert.equal(
      made.lines.map(({ tax, included_tax }) => [tax, included_tax]),
      [
        ['19', undefined],
        ['0', '17.56'],
      ],
    );
    assert.equal([made.subtotal, made.total_tax, made.total], ['210', '36.56', '229']);
    const shown = await preview(id);
    assert.equal([shown.total_tax, shown.total], ['36.56', '229']);
    const recorded = await recordedInvoice(request(), made.id);
    assert.ok(recorded);
    const again = await computedAgain(request(), recorded, { usageAt: world.usageAt });
    assert.equal(again.differences, []);
    const line = made.lines.find((each) => each.price_id === price_id);
    const half = [{ line_id: line?.id as never, amount: '55' as DecimalText }];
    const count = server.asked.length;
    await request().execute(invoice, made.id, applyNote({ credit_note_id: 'cn_1', lines: half }));
    const noted = (await request().load(invoice, made.id))?.notes[0]?.lines[0];
    // Half of the price has half of the tax in it, as it was recorded.
    assert.equal([noted?.amount, noted?.tax, noted?.included_tax], ['55', '0', '8.78']);
    assert.is(server.asked.length, count);
  }),
);

/** January with 1,300 calls, which was billed with the taxes of the provider. */
async function january(world: Awaited<ReturnType<typeof taxedWorld>>) {
  const { setProvider, create, settle, use, passAll, invoices } = world;
  await setProvider();
  await create();
  await settle();
  use(1300, day(1, 3));
  await passAll(day(2, 1, 3));
  const cycle = (await invoices()).at(-1);
  assert.ok(cycle);
  assert.equal([cycle.total_tax, cycle.total], ['23.18', '145.18']);
  return cycle;
}

for (const [first, second, difference, tax] of [
  ['0.03', '0.01', '11.9', '1.9'],
  ['0.01', '0.01', '-11.9', '-1.9'],
] as const) {
  test(
    `calls at ${first} come to ${difference} by the recorded percentage, and nobody is asked`,
    inTaxedWorld(
      nineteen,
      async (world) => {
        const cycle = await january(world);
        const count = world.server.asked.length;
        // What the provider would say by now is no matter of what it has said.
        world.server.behaves(busy);
        const [calls] = cycle.lines;
        const body = rerateInvoiceSchema.parse({
          prices: [
            {
              price_id: calls?.price_id,
              tiers: [{ up_to: 1000, unit_amount: first }, { unit_amount: second }],
            },
          ],
          apply: true,
        });
        const shown = await rerate(world.request(), cycle.id, body, world.usageAt);
        assert.equal(
          [shown.difference, shown.lines.map(({ tax_difference }) => tax_difference)],
          [difference, [tax]],
        );
        if (difference.startsWith('-')) {
          const note = await world.request().load(creditNote, shown.credit_note_id ?? '');
          assert.equal([note?.total_amount, shown.correction_invoice_id], ['11.9', null]);
        } else {
          const made = await world.request().load(invoice, shown.correction_invoice_id ?? '');
          assert.equal([made?.subtotal, made?.total_tax, made?.total], ['10', '1.9', '11.9']);
        }
        assert.is(world.server.asked.length, count);
      },
      [creditNote, invoiceRerating],
    ),
  );
}

test(
  'usage that came late is taxed by what the provider says then, and what was billed keeps its taxes',
  inTaxedWorld(nineteen, async (world) => {
    const { use, calls, passAll, invoices, server } = world;
    const cycle = await january(world);
    use(300, day(1, 20));
    server.behaves(withTax('21', taxAt('21')));
    await passAll(day(3, 1, 3));
    const next = (await invoices()).at(-1);
    assert.ok(next);
    assert.equal(
      next.lines.map(({ kind, amount, tax }) => [kind, amount, tax]),
      [
        ['usage', '0', '0'],
        ['late_usage', '3', '0.63'],
        ['fixed', '100', '21'],
      ],
    );
    assert.equal([next.total_tax, next.total], ['21.63', '124.63']);
    // A correction that takes some of it away again gives back what is negative, with its tax.
    calls.splice(0, 600);
    await passAll(day(4, 1, 3));
    const last = (await invoices()).at(-1);
    assert.equal(
      last?.lines.map(({ kind, amount, tax }) => [kind, amount, tax]),
      [
        ['usage', '0', '0'],
        ['late_usage', '-7', '-1.47'],
        ['fixed', '100', '21'],
      ],
    );
    assert.equal(
      server.asked.at(-1)?.lines.map(({ amount }) => amount),
      ['-7', '100'],
    );
    const before = await world.stateOf(cycle.id);
    assert.equal([before?.total_tax, before?.total], ['23.18', '145.18']);
  }),
);

test.run();
