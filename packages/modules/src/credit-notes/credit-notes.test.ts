import { Problem } from '@counterfoil/kernel';
import { rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { amountsOf, applyNote, invoice, paymentStatusOf } from '../invoices/index.ts';
import { paidWorld, type Shown } from '../test-paid-world.ts';
import { creditNote } from './credit-note.ts';
import { askFinalization } from './decisions.ts';

const test = suite('credit notes');

const taxed = {
  lines: [
    { amount: '60', tax: '6' },
    { amount: '50', tax: '5' },
  ],
};
const ofNote = (id: string) => ({ params: { id } });

test('a note on a paid invoice gives money back as credits, with its tax, once', async () => {
  const { invoice, pay, credit, stateOf, prepaid, settle } = await paidWorld();
  const id = await invoice(taxed);
  await pay(id, '121');
  const note = await credit(id, { line_2: '50' });
  assert.equal(
    [
      note.credit_note_status,
      note.credit_note_type,
      note.total_amount,
      note.total_tax,
      note.reason,
    ],
    ['FINALIZED', 'REFUND', '55', '5', 'BILLING_ERROR'],
  );
  assert.is(paymentStatusOf(await stateOf(id)), 'PARTIALLY_REFUNDED');
  assert.is(amountsOf(await stateOf(id)).refunded_amount, '55');
  await settle();
  assert.equal(await prepaid(), ['55']);
});

test('it shows its invoice as it is then, and its customer', async () => {
  const { invoice, pay, credit, customerId, call } = await paidWorld();
  const id = await invoice(taxed);
  await pay(id, '121');
  const note = (await credit(id, { line_1: '60' })) as unknown as {
    readonly id: string;
    readonly invoice: { readonly refunded_amount: string };
    readonly customer: { readonly id: string };
  };
  assert.equal([note.invoice.refunded_amount, note.customer.id], ['66', customerId]);
  const { id: _, ...read } = await call('GET /creditnotes/{id}', ofNote(note.id));
  assert.ok(read.invoice);
});

test('a note on an invoice that is owed lowers what is due, and can become void again', async () => {
  const { invoice, credit, call, stateOf, prepaid } = await paidWorld();
  const id = await invoice({ lines: [{ amount: '88' }] });
  const note = await credit(id, { line_1: '20' });
  assert.equal([note.credit_note_type, note.refund_status], ['ADJUSTMENT', null]);
  assert.is(amountsOf(await stateOf(id)).amount_due, '68');
  const voided = await call('POST /creditnotes/{id}/void', ofNote(note.id));
  assert.is(voided.credit_note_status, 'VOIDED');
  assert.is(amountsOf(await stateOf(id)).amount_due, '88');
  const again = await rejection(call('POST /creditnotes/{id}/void', ofNote(note.id)));
  assert.is(again.details?.reason, 'credit_note_state');
  assert.equal(await prepaid(), []);
});

test('what exceeds what is left is refused, and nothing is stored', async () => {
  const { world, invoice, pay, credit } = await paidWorld();
  const id = await invoice({ lines: [{ amount: '100' }] });
  await pay(id, '40');
  const before = world.store.log.length;
  const problem = await rejection(credit(id, { line_1: '70' }));
  assert.equal([problem.code, problem.details?.maximum_allowed], ['validation_error', '60']);
  assert.is(
    (await rejection(credit(id, { line_9: '1' }))).details?.field,
    'line_items/0/invoice_line_item_id',
  );
  assert.is((await rejection(credit('inv_none', { line_1: '1' }))).details?.field, 'invoice_id');
  assert.is(world.store.log.length, before);
});

test('of two drafts that exceed together what is left, the second stays a draft', async () => {
  const { invoice, pay, credit, call, prepaid } = await paidWorld();
  const id = await invoice({ lines: [{ amount: '110' }] });
  await pay(id, '110');
  const draft = { process_credit_note: false };
  const [one, two] = [
    await credit(id, { line_1: '100' }, draft),
    await credit(id, { line_1: '100' }, draft),
  ];
  assert.equal([one.credit_note_status, one.finalized_at], ['DRAFT', null]);
  const finalized = await call('POST /creditnotes/{id}/finalize', ofNote(one.id));
  assert.is(finalized.credit_note_status, 'FINALIZED');
  assert.ok(finalized.finalized_at);
  const refused = await rejection(call('POST /creditnotes/{id}/finalize', ofNote(two.id)));
  assert.is(refused.code, 'validation_error');
  const still = await call('GET /creditnotes/{id}', ofNote(two.id));
  assert.is(still.credit_note_status, 'DRAFT');
  assert.equal(await prepaid(), ['100']);
  await call('POST /creditnotes/{id}/void', ofNote(two.id));
  const again = await rejection(call('POST /creditnotes/{id}/finalize', ofNote(one.id)));
  assert.is(again.details?.reason, 'credit_note_state');
  const refund = await rejection(call('POST /creditnotes/{id}/void', ofNote(one.id)));
  assert.is(refund.details?.reason, 'given_back');
});

test('two drafts that are made final at once are held to what is left by the invoice', async () => {
  const { invoice, pay, credit, request, settle, prepaid } = await paidWorld();
  const id = await invoice({ lines: [{ amount: '110' }] });
  await pay(id, '110');
  const drafts = [];
  for (const _ of ['one', 'two']) {
    drafts.push(await credit(id, { line_1: '100' }, { process_credit_note: false }));
  }
  for (const draft of drafts) {
    await request().execute(creditNote, draft.id, askFinalization(draft.id));
  }
  await settle();
  const states = await Promise.all(drafts.map((draft) => request().load(creditNote, draft.id)));
  assert.equal(
    states.map((state) => state?.credit_note_status),
    ['FINALIZED', 'DRAFT'],
  );
  assert.match(states[1]?.refused?.message ?? '', 'at most 10');
  assert.equal(await prepaid(), ['100']);
});

test('a draft that was an adjustment gives money back when the invoice was paid meanwhile', async () => {
  const { invoice, pay, credit, call, prepaid } = await paidWorld();
  const id = await invoice({ lines: [{ amount: '100' }] });
  const note = await credit(id, { line_1: '30' }, { process_credit_note: false });
  assert.is(note.credit_note_type, 'ADJUSTMENT');
  await pay(id, '100');
  const final = await call('POST /creditnotes/{id}/finalize', ofNote(note.id));
  assert.is(final.credit_note_type, 'REFUND');
  assert.equal(await prepaid(), ['30']);
});

test('a request that is repeated gets its first answer, also when nothing is left; another body is a conflict', async () => {
  const { invoice, pay, credit } = await paidWorld();
  const id = await invoice({ lines: [{ amount: '100' }] });
  await pay(id, '100');
  const first = await credit(id, { line_1: '100' }, {}, 'one');
  const second = await credit(id, { line_1: '100' }, {}, 'one');
  assert.equal([second.id, second.credit_note_status], [first.id, 'FINALIZED']);
  const other = await rejection(credit(id, { line_1: '1' }, {}, 'one'));
  assert.is(other.code, 'idempotency_conflict');
});

test('two equal notes are two notes', async () => {
  const { invoice, pay, credit, prepaid } = await paidWorld();
  const id = await invoice({ lines: [{ amount: '100' }] });
  await pay(id, '100');
  await credit(id, { line_1: '10' });
  await credit(id, { line_1: '10' });
  assert.equal(await prepaid(), ['20']);
});

test('what a settlement takes off an invoice is a credit note, once, which cannot become void', async () => {
  const { invoice: make, request, settle, call } = await paidWorld();
  const id = await make({ lines: [{ amount: '100', tax: '10' }] });
  const line = { line_id: 'line_1' as never, amount: '20' as never };
  const asked = { credit_note_id: 'settlement_1', lines: [line] };
  await request().execute(invoice, id, applyNote(asked));
  await settle();
  await settle();
  const { items } = (await call('GET /creditnotes', { query: { invoice_id: id } })) as unknown as {
    readonly items: readonly Shown[];
  };
  assert.equal(
    items.map((note) => [note.credit_note_status, note.total_amount, note.metadata]),
    [['FINALIZED', '22', { settlement_id: 'settlement_1' }]],
  );
  const refused = await rejection(call('POST /creditnotes/{id}/void', ofNote(items[0]?.id ?? '')));
  assert.is(refused.details?.reason, 'immutable');
});

test('a number is given, or made, and is unique', async () => {
  const { invoice, credit } = await paidWorld();
  const id = await invoice({ lines: [{ amount: '100' }] });
  const own = await credit(id, { line_1: '1' }, { credit_note_number: 'GS-1' });
  assert.is(own.credit_note_number, 'GS-1');
  const taken = credit(id, { line_1: '1' }, { credit_note_number: 'GS-1' });
  assert.is((await rejection(taken)).code, 'already_exists');
  const made = await credit(id, { line_1: '1' });
  assert.match(String(made.credit_note_number), /^CN-[0-9A-Z]{9}$/);
});

test('what POST_PAID credits paid goes back to their wallet, the rest to a PRE_PAID one', async () => {
  const { invoice, pay, credit, wallet, balance, prepaid } = await paidWorld();
  const id = await invoice({ lines: [{ amount: '100' }] });
  const one = await wallet('80', { wallet_type: 'POST_PAID', conversion_rate: '0.5' });
  await pay(id, '70');
  await pay(id, '30', { payment_method_type: 'CREDITS' });
  assert.is(await balance(one), '20');
  await credit(id, { line_1: '20' });
  await credit(id, { line_1: '30' });
  assert.is(await balance(one), '80');
  assert.equal(await prepaid(), ['20']);
});

test('a wallet that is closed by then takes nothing back: the customer gets it in another one', async () => {
  const { invoice, pay, credit, wallet, call, prepaid } = await paidWorld();
  const id = await invoice({ lines: [{ amount: '30' }] });
  const one = await wallet('30', { wallet_type: 'POST_PAID' });
  await pay(id, '30', { payment_method_type: 'CREDITS' });
  await call('POST /wallets/{id}/terminate', ofNote(one));
  await credit(id, { line_1: '30' });
  assert.equal(await prepaid(), ['30']);
});

test('lists find notes by their invoice and state', async () => {
  const { invoice, credit, call } = await paidWorld();
  const [one, other] = [
    await invoice({ lines: [{ amount: '10' }] }),
    await invoice({ lines: [{ amount: '10' }] }),
  ];
  const note = await credit(one, { line_1: '1' });
  await credit(other, { line_1: '1' }, { process_credit_note: false });
  const ids = async (query: object) => {
    const { items } = (await call('GET /creditnotes', { query })) as unknown as {
      readonly items: readonly { readonly id: string }[];
    };
    return items.map((each) => each.id);
  };
  assert.equal(await ids({ invoice_id: one }), [note.id]);
  assert.equal(await ids({ credit_note_status: 'FINALIZED' }), [note.id]);
  assert.equal((await ids({})).length, 2);
});

test('wherever the process dies that refunds, money and credits go back once', async () => {
  for (const fate of ['unavailable', 'lost_unheard', 'written_unheard'] as const) {
    for (let last = 1, isWhole = false; !isWhole; last += 1) {
      const { world, invoice, pay, credit, wallet, balance, prepaid, settle, another, stateOf } =
        await paidWorld();
      const id = await invoice({ lines: [{ amount: '100' }] });
      const one = await wallet('40', { wallet_type: 'POST_PAID' });
      await pay(id, '60');
      await pay(id, '40', { payment_method_type: 'CREDITS' });
      let appended = 0;
      world.store.fate = () => {
        appended += 1;
        return appended > last ? 'unavailable' : appended === last ? fate : 'written';
      };
      await credit(id, { line_1: '90' }, {}, 'one').catch((error: unknown) => {
        if (!(error instanceof Problem)) throw error;
      });
      isWhole = appended < last;
      world.store.fate = () => 'written';
      await settle(another());
      await credit(id, { line_1: '90' }, {}, 'one', another());
      await settle(another());
      const where = `${fate} at append ${last}`;
      assert.is(await balance(one), '40', where);
      assert.equal(await prepaid(), ['50'], where);
      assert.is(amountsOf(await stateOf(id)).refunded_amount, '90', where);
    }
  }
});

test.run();
