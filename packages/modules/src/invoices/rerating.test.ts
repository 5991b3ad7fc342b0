import { invariant } from '@counterfoil/kernel';
import { callRoute, rejection, testPrincipal } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { creditNote } from '../credit-notes/index.ts';
import {
  invoiceRerating,
  ratedAgainSchema,
  rerate,
  rerateInvoiceSchema,
} from '../rerating/index.ts';
import { workflows } from '../workflows/index.ts';
import { type Invoice, invoice } from './invoice.ts';
import { applyNote } from './settling/notes.ts';
import { day, invoiceWorld } from './test-invoice-world.ts';

const test = suite('invoices under other prices');

/** January with 1,300 calls and ten percent off, which was billed, and nobody has paid. */
async function january() {
  const world = await invoiceWorld([creditNote, invoiceRerating]);
  const { id: coupon } = await world.coupon();
  await world.create({ coupons: [coupon] });
  world.use(1300, day(1, 3));
  await world.pass(day(2, 1, 3));
  const cycle = (await world.invoices()).at(-1) as Invoice;
  const [calls, base] = cycle.lines;
  const ask = async (body: object, key?: string) => {
    const parsed = rerateInvoiceSchema.parse(body);
    const request = world.world.request(
      testPrincipal(),
      key === undefined ? undefined : { key, operation: 'POST rerate', fields: { ...body } },
    );
    return ratedAgainSchema.parse(await rerate(request, cycle.id, parsed, world.usageAt));
  };
  const note = async (id: string | null) => world.request().load(creditNote, id ?? '');
  const other = async (id: string | null) => world.request().load(invoice, id ?? '');
  return {
    ...world,
    cycle,
    ask,
    note,
    other,
    callsAt: (first: string, second: string) => ({
      price_id: calls?.price_id,
      tiers: [{ up_to: 1000, unit_amount: first }, { unit_amount: second }],
    }),
    baseAt: (amount: string) => ({ price_id: base?.price_id, amount }),
  };
}

test('the difference is shown by line, and nothing is written', async () => {
  const { ask, callsAt, baseAt, world } = await january();
  const before = world.store.log.length;
  const shown = await ask({ prices: [callsAt('0.03', '0.01'), baseAt('90')] });
  assert.is(world.store.log.length, before);
  assert.equal(
    shown.lines.map((line) => [
      line.display_name,
      line.amount_before,
      line.amount_after,
      line.net_difference,
      line.tax_difference,
    ]),
    [
      ['Calls', '22', '32', '9', '0.9'],
      ['Base', '100', '90', '-9', '-0.9'],
    ],
  );
  assert.equal(
    [shown.before.total, shown.after.total, shown.difference],
    ['120.78', '120.78', '0'],
  );
  assert.equal(
    [shown.applied, shown.credit_note_id, shown.correction_invoice_id],
    [false, null, null],
  );
});

test('the prices of the invoice make no difference', async () => {
  const { ask, callsAt } = await january();
  const shown = await ask({ prices: [callsAt('0.02', '0.01')], apply: true });
  assert.equal([shown.lines, shown.difference, shown.applied], [[], '0', false]);
});

test('what was billed too much goes back by a credit note on its lines', async () => {
  const { ask, callsAt, note, cycle } = await january();
  const shown = await ask({ prices: [callsAt('0.01', '0.01')], apply: true, memo: 'Agreed' });
  assert.equal([shown.difference, shown.correction_invoice_id], ['-9.9', null]);
  const made = await note(shown.credit_note_id);
  assert.equal(
    [made?.invoice_id, made?.lines.map(({ amount }) => amount), made?.total_amount, made?.memo],
    [cycle.id, ['9'], '9.9', 'Agreed'],
  );
});

test('what was billed too little is asked for by an invoice, at the rates of the first', async () => {
  const { ask, callsAt, other, cycle } = await january();
  const shown = await ask({ prices: [callsAt('0.03', '0.01')], apply: true });
  assert.equal([shown.difference, shown.credit_note_id], ['9.9', null]);
  const made = await other(shown.correction_invoice_id);
  assert.equal(
    [made?.subtotal, made?.total_discount, made?.total_tax, made?.total],
    ['9', '0', '0.9', '9.9'],
  );
  assert.equal(
    [made?.metadata.corrects_invoice_id, made?.customer_id],
    [cycle.id, cycle.customer_id],
  );
});

test('a request is listed among the work in the background, with the lines that it has mended', async () => {
  const { ask, callsAt, baseAt, cycle, request } = await january();
  const listed = async () => {
    const route = workflows.routes['POST /workflows/search'];
    invariant(route, 'work in the background can be searched');
    const body = { workflow_type: 'rerating', entity_id: cycle.id };
    const { items } = (await callRoute(route, request(), { body })) as {
      items: { workflow_status: string; progress: object; close_time?: string }[];
    };
    return items.map(({ workflow_status, progress, close_time }) => [
      ...[workflow_status, progress, close_time !== undefined],
    ]);
  };
  await ask({ prices: [callsAt('0.03', '0.01'), baseAt('90')] });
  assert.equal(await listed(), []);
  await ask({ prices: [callsAt('0.03', '0.01'), baseAt('90')], apply: true });
  assert.equal(await listed(), [['Completed', { processed: 2, failed: 0 }, true]]);
});

test('a price that has tax in it is mended with tax in it', async () => {
  const world = await invoiceWorld([creditNote, invoiceRerating]);
  const { id: price_id } = await world.post('/prices', {
    ...{ entity_type: 'PLAN', entity_id: world.planId, currency: 'usd' },
    ...{ type: 'FIXED', billing_model: 'FLAT_FEE', billing_period: 'MONTHLY' },
    ...{ invoice_cadence: 'ADVANCE', amount: '110', tax_behavior: 'inclusive' },
    ...{ display_name: 'Support', start_date: '2020-01-01T00:00:00Z' },
  });
  await world.create();
  await world.settle();
  const opening = (await world.invoices()).at(-1) as Invoice;
  assert.equal([opening.subtotal, opening.total_tax, opening.total], ['210', '20', '220']);
  const body = rerateInvoiceSchema.parse({ prices: [{ price_id, amount: '165' }], apply: true });
  const shown = await rerate(world.request(), opening.id, body, world.usageAt);
  assert.equal([shown.before.total, shown.after.total, shown.difference], ['220', '275', '55']);
  const made = await world.request().load(invoice, shown.correction_invoice_id ?? '');
  assert.equal([made?.subtotal, made?.total_tax, made?.total], ['55', '5', '55']);
});

test('a request is carried out once, and another one mends only what is left', async () => {
  const { ask, callsAt, note, typesOf } = await january();
  const notes = () => typesOf('credit_note').filter((type) => type === 'CreditNoteCreated').length;
  const body = { prices: [callsAt('0.01', '0.01')], apply: true };
  const first = await ask(body, 'one');
  assert.equal(await ask(body, 'one'), first);
  const again = await ask(body, 'two');
  assert.equal([again.applied, again.lines[0]?.corrected_before], [false, '-9']);
  assert.is(notes(), 1);
  const further = await ask({ prices: [callsAt('0.005', '0.01')], apply: true }, 'three');
  const made = await note(further.credit_note_id);
  assert.equal(
    made?.lines.map(({ amount }) => amount),
    ['4.5'],
  );
});

test('a note that the invoice has not enough left for is refused, and nothing is written', async () => {
  const { ask, callsAt, world, cycle, request } = await january();
  const [line] = cycle.lines;
  await request().execute(
    invoice,
    cycle.id,
    applyNote({
      credit_note_id: 'cn_1',
      lines: [{ line_id: line?.id ?? '', amount: '15' as never }],
    }),
  );
  const { length } = world.store.log;
  const body = { prices: [callsAt('0.01', '0.01')], apply: true };
  assert.ok((await rejection(ask(body))).errors?.[0]?.pointer);
  assert.is(world.store.log.length, length);
  assert.is((await ask({ ...body, apply: false })).difference, '-9.9');
});

test('prices and invoices that do not fit are refused, and nothing is written', async () => {
  const { ask, callsAt, baseAt, world, invoices } = await january();
  const { length } = world.store.log;
  const pointerOf = async (prices: readonly object[]) =>
    (await rejection(ask({ prices }))).errors?.[0]?.pointer;
  assert.is(await pointerOf([{ price_id: 'price_other', amount: '1' }]), '/prices/0/price_id');
  assert.is(
    await pointerOf([callsAt('1', '1'), { ...baseAt('1'), amount: undefined }]),
    '/prices/1',
  );
  assert.ok(await pointerOf([{ ...callsAt('1', '1'), tiers: undefined, amount: '1' }]));
  const [opening] = await invoices();
  const unknown = await rejection(
    rerate(
      world.request(testPrincipal()),
      'inv_none',
      rerateInvoiceSchema.parse({ prices: [baseAt('1')] }),
    ),
  );
  assert.is(unknown.code, 'not_found');
  assert.ok(opening);
  assert.is(world.store.log.length, length);
});

test.run();
