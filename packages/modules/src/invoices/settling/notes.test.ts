import { folded, given, problemOf } from '@counterfoil/testkit';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { finalInvoice, type TestInvoice } from '../../test-final-invoice.ts';
import type { InvoiceEvent, TakenCredits } from '../events.ts';
import { amountsOf, type Invoice, invoice, paymentStatusOf } from '../invoice.ts';
import { totalOf } from './credited.ts';
import { applyNote, maximumOf, noteOn, reverseAdjustment } from './notes.ts';
import { settlePayment } from './payments.ts';

const test = suite('credit notes on an invoice');

const text = (value: string): never => value as never;
const after = (events: readonly InvoiceEvent[]): Invoice => folded(invoice, events) as Invoice;

/** An invoice with payments, under notes that were applied one after the other. */
function invoiced(figures: TestInvoice, payments: readonly string[] = []): InvoiceEvent[] {
  const events: InvoiceEvent[] = [...finalInvoice(figures)];
  for (const [index, amount] of payments.entries()) {
    const payment = { payment_id: `pay_${index + 1}`, method: 'OFFLINE' as const };
    events.push(...settlePayment({ ...payment, amount: text(amount) })(after(events), text('')));
  }
  return events;
}

const asked = (amounts: Readonly<Record<string, string>>, credit_note_id = 'cn_1') => ({
  credit_note_id,
  lines: Object.entries(amounts).map(([line_id, amount]) => ({ line_id, amount: text(amount) })),
});

const applied = (events: InvoiceEvent[], ...notes: Readonly<Record<string, string>>[]) => {
  for (const [index, note] of notes.entries()) {
    events.push(...applyNote(asked(note, `cn_${index + 1}`))(after(events), text('')));
  }
  return after(events);
};

test('of 110 paid, 50 of a line goes back', () => {
  const state = applied(invoiced({ lines: [{ amount: '60' }, { amount: '50' }] }, ['110']), {
    line_2: '50',
  });
  assert.is(amountsOf(state).refunded_amount, '50');
  assert.is(paymentStatusOf(state), 'PARTIALLY_REFUNDED');
  assert.is(maximumOf(state, 'REFUND'), '60');
});

test('of 88 that are owed, 20 are adjusted: 68 are due', () => {
  const state = applied(invoiced({ lines: [{ amount: '88' }] }), { line_1: '20' });
  const { amount_due, amount_remaining, adjustment_amount } = amountsOf(state);
  assert.equal([amount_due, amount_remaining, adjustment_amount], ['68', '68', '20']);
  assert.is(paymentStatusOf(state), 'PENDING');
});

test('of 100 of which 40 are paid, 60 can be adjusted at most', () => {
  const events = invoiced({ lines: [{ amount: '100' }] }, ['40']);
  const problem = problemOf(() => noteOn(after(events), asked({ line_1: '70' })));
  assert.is(problem.code, 'validation_error');
  assert.equal(problem.details, {
    requested_amount: '70',
    maximum_allowed: '60',
    credit_note_type: 'ADJUSTMENT',
    invoice_total: '100',
    invoice_amount_paid: '40',
  });
  assert.is(amountsOf(applied(events, { line_1: '50' })).amount_remaining, '10');
  const whole = applied(invoiced({ lines: [{ amount: '100' }] }, ['40']), { line_1: '60' });
  assert.is(paymentStatusOf(whole), 'SUCCEEDED');
});

test('of EUR 132 that are paid and 30 refunded, 120 are refused', () => {
  const lines = [{ amount: '132' }];
  const state = applied(invoiced({ currency: 'eur', lines }, ['132']), { line_1: '30' });
  assert.is(maximumOf(state, 'REFUND'), '102');
  const problem = problemOf(() => noteOn(state, asked({ line_1: '120' }, 'cn_2')));
  assert.match(problem.message, 'at most 102');
});

test('the tax goes with what is credited, and all of it with all of the line', () => {
  const state = after(invoiced({ lines: [{ amount: '100', discount: '10', tax: '9' }] }, ['99']));
  const note = noteOn(state, asked({ line_1: '20' }));
  assert.equal([note.lines[0]?.tax, note.amount], ['2', '22']);
  const lines = [{ amount: '0.1', tax: '0.01' }];
  const small = applied(invoiced({ lines }, ['0.11']), { line_1: '0.04' }, { line_1: '0.05' });
  assert.equal(
    small.notes.map((each) => each.lines[0]?.tax),
    ['0', '0.01'],
  );
  const rest = noteOn(small, asked({ line_1: '0.01' }, 'cn_3'));
  assert.is(rest.lines[0]?.tax, '0');
});

test('of the worked month, a note of 20 on the base gives 22 back, and 93.78 are left (E 31)', () => {
  const lines = [
    { price_type: 'USAGE' as const, amount: '22', discount: '2.2', credits: '5', tax: '1.98' },
    { amount: '100', discount: '10', tax: '9' },
  ];
  const figures = { lines, taken: [taken('a', '5', '5')] };
  const state = applied(invoiced(figures, ['115.78']), { line_2: '20' });
  assert.equal([state.notes[0]?.amount, state.notes[0]?.given_back], ['22', []]);
  assert.is(maximumOf(state, 'REFUND'), '93.78');
});

test('the same line twice in one note is limited as one', () => {
  const state = after(invoiced({ lines: [{ amount: '60' }, { amount: '50' }] }, ['110']));
  const twice = {
    credit_note_id: 'cn_1',
    lines: [
      { line_id: 'line_1', amount: text('40') },
      { line_id: 'line_1', amount: text('21') },
    ],
  };
  const problem = problemOf(() => noteOn(state, twice));
  assert.is(problem.errors?.[0]?.pointer, '/line_items/1/amount');
});

test('lines are held to what earlier notes have left of them, whatever is left of the invoice', () => {
  const lines = [{ amount: '60' }, { amount: '50' }];
  const state = applied(invoiced({ lines }, ['110']), { line_1: '60' });
  const problem = problemOf(() => noteOn(state, asked({ line_1: '0.01' }, 'cn_2')));
  assert.is(problem.errors?.[0]?.pointer, '/line_items/0/amount');
  assert.match(problem.message, 'at most 0');
});

test('a line of another invoice, and more digits than the currency has, are refused', () => {
  const state = after(invoiced({ currency: 'jpy', lines: [{ amount: '100' }] }, ['100']));
  const other = problemOf(() => noteOn(state, asked({ line_9: '1' })));
  assert.equal(
    [other.code, other.details?.field],
    ['not_found', 'line_items/0/invoice_line_item_id'],
  );
  const digits = problemOf(() => noteOn(state, asked({ line_1: '0.5' })));
  assert.is(digits.errors?.[0]?.pointer, '/line_items/0/amount');
});

const voided: InvoiceEvent = { type: 'InvoiceVoided', data: { money: text('0'), taken: [] } };

test('a draft, a void invoice and one of which all went back cannot be credited', () => {
  const paid = invoiced({ lines: [{ amount: '100' }] }, ['100']);
  const states = [
    after(paid.slice(0, 1)),
    after([...paid, voided]),
    applied([...paid], { line_1: '100' }),
  ];
  for (const state of states) {
    const problem = problemOf(() => noteOn(state, asked({ line_1: '1' }, 'cn_2')));
    assert.is(problem.code, 'invalid_operation');
  }
});

test('of an overpaid invoice goes back what it was for, and that is all of it', () => {
  const state = applied(invoiced({ lines: [{ amount: '100' }] }, ['120']), { line_1: '100' });
  assert.is(paymentStatusOf(state), 'REFUNDED');
  assert.equal(state.notes[0], {
    kind: 'REFUND',
    ...noteDataOf('100'),
    from: [{ payment_id: 'pay_1', amount: '100' }],
  });
});

const noteDataOf = (amount: string) => ({
  credit_note_id: 'cn_1',
  lines: [{ line_id: 'line_1', amount, tax: '0', credits: '0' }],
  amount,
  given_back: [],
});

test('the last payment goes back first', () => {
  const state = applied(invoiced({ lines: [{ amount: '100' }] }, ['70', '30']), { line_1: '50' });
  const note = state.notes[0];
  assert.equal(note?.kind === 'REFUND' && note.from, [
    { payment_id: 'pay_2', amount: '30' },
    { payment_id: 'pay_1', amount: '20' },
  ]);
});

const taken = (wallet: string, credits: string, amount: string): TakenCredits => ({
  wallet_id: text(`wallet_${wallet}`),
  hold_id: text(`hold_${wallet}`),
  credits: text(credits),
  amount: text(amount),
});

test('what money has paid of a line goes back before prepaid credits, and each wallet gets what is its own', () => {
  const figures = {
    lines: [{ amount: '30', credits: '20', tax: '3', price_type: 'USAGE' as const }],
    taken: [taken('a', '24', '12'), taken('b', '8', '8')],
  };
  const events = invoiced(figures, ['13']);
  const state = applied(events, { line_1: '10' }, { line_1: '5' }, { line_1: '15' });
  assert.equal(
    state.notes.map(({ amount, given_back }) => [
      amount,
      ...given_back.map(({ wallet_id, credits }) => `${wallet_id} ${credits}`),
    ]),
    [['11'], ['2', 'wallet_b 3.5'], ['0', 'wallet_b 4.5', 'wallet_a 24']],
  );
  assert.is(paymentStatusOf(state), 'REFUNDED');
  const most = applied(invoiced(figures, ['13']), { line_1: '10' }, { line_1: '5' });
  assert.is(paymentStatusOf(most), 'PARTIALLY_REFUNDED');
});

test('a note is applied once, and not at all where too little is left by then', () => {
  const events = invoiced({ lines: [{ amount: '110' }] }, ['110']);
  const one = applyNote(asked({ line_1: '40' }))(after(events), text(''));
  assert.is(one[0]?.type, 'InvoiceRefunded');
  const state = [...events, ...one];
  given(invoice, state)
    .when(applyNote(asked({ line_1: '40' })))
    .then([]);
  given(invoice, state)
    .when(applyNote(asked({ line_1: '71' }, 'cn_2')))
    .then([]);
});

test('an adjustment that is taken back is owed again; a refund is never taken back', () => {
  const owed = invoiced({ lines: [{ amount: '88' }] });
  const state = applied(owed, { line_1: '88' });
  assert.is(state.paid_at !== null, true);
  given(invoice, owed)
    .when(reverseAdjustment('cn_1'))
    .thenState((each) => {
      const back = each as Invoice;
      assert.equal([amountsOf(back).amount_remaining, back.paid_at], ['88', null]);
    });
  const paid = invoiced({ lines: [{ amount: '88' }] }, ['88']);
  applied(paid, { line_1: '8' });
  given(invoice, paid).when(reverseAdjustment('cn_1')).then([]);
});

const cents = (units: number): string => (units / 100).toFixed(2);

test('however lines are credited, the notes add up to what was paid, tax and credits included', () => {
  const line = fc.record({
    units: fc.integer({ min: 1, max: 5_000 }),
    taxUnits: fc.integer({ min: 0, max: 999 }),
    credited: fc.integer({ min: 0, max: 100 }),
    cuts: fc.array(fc.integer({ min: 1, max: 5_000 }), { maxLength: 4 }),
  });
  fc.assert(
    fc.property(fc.array(line, { minLength: 1, maxLength: 4 }), (lines) => {
      const figures = lines.map(({ units, taxUnits, credited }) => ({
        amount: cents(units),
        tax: cents(taxUnits),
        credits: cents(Math.floor((units * credited) / 100)),
      }));
      const credits = lines.reduce(
        (all, { units, credited }) => all + Math.floor((units * credited) / 100),
        0,
      );
      const wallets = credits > 0 ? [taken('a', cents(credits * 3), cents(credits))] : [];
      const total = after([...finalInvoice({ lines: figures, taken: wallets })]).total;
      const events = invoiced(
        { lines: figures, taken: wallets },
        total === '0' ? [] : [total as string],
      );
      let number = 0;
      for (const [index, { units, cuts }] of lines.entries()) {
        let left = units;
        for (const cut of [...cuts, units]) {
          const part = Math.min(cut, left);
          if (part === 0) continue;
          left -= part;
          number += 1;
          const note = asked({ [`line_${index + 1}`]: cents(part) }, `cn_${number}`);
          events.push(...applyNote(note)(after(events), text('')));
        }
      }
      const { notes } = after(events);
      assert.is(notes.length, number, 'a note was refused');
      const sum = (amounts: readonly string[]) =>
        Math.round(amounts.reduce((all, each) => all + Number(each), 0) * 1e6);
      assert.is(sum(notes.map(({ amount }) => amount)), sum([total]));
      const back = notes.flatMap(({ given_back }) => given_back);
      assert.is(sum(back.map((part) => part.credits)), sum([cents(credits * 3)]));
      const totals = notes.map(totalOf);
      assert.is(sum(totals), sum(figures.flatMap((each) => [each.amount, each.tax])));
    }),
    { numRuns: 50 },
  );
});

test.run();
