import { type DecimalText, decimal, zero } from '@counterfoil/kernel';
import { folded } from '@counterfoil/testkit';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { DividedCredit } from '../../subscriptions/index.ts';
import { finalInvoice } from '../../test-final-invoice.ts';
import type { InvoiceEvent } from '../events.ts';
import { amountsOf, type Invoice, invoice } from '../invoice.ts';
import { lowerInvoice } from './lower-debts.ts';

const test = suite('credits of settlements on invoices that are owed');

const text = (value: string): never => value as never;
const cents = (value: number): DecimalText => text((value / 100).toFixed(2));

/** A charge of an invoice, in cents, and the part of it that is credited, in percent. */
interface Charge {
  readonly amount: number;
  readonly tax: number;
  readonly credited: number;
}

/** An invoice of charges, of which so many cents are paid. */
function invoiced(charges: readonly Charge[], paid: number): readonly InvoiceEvent[] {
  const lines = charges.map(({ amount, tax }) => ({ amount: cents(amount), tax: cents(tax) }));
  const [drafted, finalized] = finalInvoice({ lines });
  assert.ok(finalized.type === 'InvoiceFinalized');
  const own = finalized.data.lines.map((line, index) => ({
    ...line,
    subscription_line_item_id: `subs_line_${index}`,
  }));
  const settled: InvoiceEvent = {
    type: 'PaymentSettled',
    data: { payment_id: 'pay_1', method: 'OFFLINE', amount: cents(paid), excess: text('0') },
  };
  const final: InvoiceEvent = { type: 'InvoiceFinalized', data: { ...finalized.data, lines: own } };
  return [drafted, final, ...(paid > 0 ? [settled] : [])];
}

const creditOf = ({ amount, tax, credited }: Charge, index: number): DividedCredit =>
  ({
    credit: { line_item_id: `subs_line_${index}` },
    within: '0',
    beyond: cents(Math.floor((amount * credited) / 100)),
    tax: cents(Math.floor((tax * credited) / 100)),
  }) as unknown as DividedCredit;

const after = (events: readonly InvoiceEvent[]): Invoice => folded(invoice, events) as Invoice;

/** The events that credits of charges bring about. */
function lowered(events: readonly InvoiceEvent[], charges: readonly Charge[]) {
  return lowerInvoice('settlement_1', charges.map(creditOf))(
    after(events),
    text(''),
  ) as InvoiceEvent[];
}

/** Charges that are taxed by up to thirty percent. */
const charge = fc
  .tuple(
    fc.integer({ min: 100, max: 5_000 }),
    fc.integer({ min: 0, max: 30 }),
    fc.integer({ min: 1, max: 100 }),
  )
  .map(([amount, rate, credited]) => ({
    amount,
    tax: Math.round((amount * rate) / 100),
    credited,
  }));

test('a credit lowers all that is owed of it, to less than a unit for each line, and never more', () => {
  fc.assert(
    fc.property(
      fc.array(charge, { minLength: 1, maxLength: 8 }),
      fc.integer({ min: 0, max: 100 }),
      (charges, percent) => {
        const whole = charges.reduce((sum, { amount, tax }) => sum + amount + tax, 0);
        const events = invoiced(charges, Math.floor((whole * percent) / 100));
        const before = decimal(amountsOf(after(events)).amount_remaining);
        const brought = lowered(events, charges);
        const left = decimal(amountsOf(after([...events, ...brought])).amount_remaining);
        const worth = charges
          .map(creditOf)
          .reduce((sum, { beyond, tax }) => sum.plus(decimal(beyond)).plus(decimal(tax)), zero);
        const owed = before.cmp(worth) < 0 ? before : worth;
        const missed = owed.minus(before.minus(left));
        assert.ok(missed.cmp(decimal(cents(-charges.length))) >= 0, 'it lowers too much');
        assert.ok(missed.cmp(decimal(cents(2 * charges.length))) <= 0, `${missed} stay owed`);
      },
    ),
    { numRuns: 200 },
  );
});

test('many lines whose tax is rounded up are lowered too', () => {
  // Each line of one unit has a tax of one: what is owed is odd, and every part of it is rounded.
  const charges = Array.from({ length: 40 }, () => ({ amount: 15, tax: 15, credited: 100 }));
  const events = invoiced(charges, 613);
  const [adjusted] = lowered(events, charges);
  assert.is(adjusted?.type, 'InvoiceAdjusted');
});

test('whatever is known of a payment, and however many notes there are, what is owed is lowered', () => {
  const charges = [{ amount: 10_000, tax: 0, credited: 50 }];
  const noted: InvoiceEvent = {
    type: 'PaymentNoted',
    data: { payment_id: null, payment_status: 'INITIATED' },
  };
  const notes = Array.from(
    { length: 500 },
    (_, index): InvoiceEvent => ({
      type: 'InvoiceAdjusted',
      data: { credit_note_id: `cn_${index}`, lines: [], amount: text('0'), given_back: [] },
    }),
  );
  for (const more of [[noted], notes]) {
    const brought = lowered([...invoiced(charges, 0), ...more], charges);
    assert.equal(
      brought.map(({ type, data }) => [type, 'amount' in data ? data.amount : null]),
      [['InvoiceAdjusted', '50']],
    );
  }
});

test.run();
