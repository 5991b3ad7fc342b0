import {
  type Decimal,
  type DecimalText,
  decimal,
  digitsFault,
  divide,
  existing,
  invalidField,
  notFound,
  Problem,
  refusal,
  shareOf,
  smaller,
  textOf,
  zero,
  zeroText,
} from '@counterfoil/kernel';
import { includedIn, netOf } from '../amounts.ts';
import type { InvoiceDecision } from '../decisions.ts';
import type { InvoiceEventData, InvoiceLine, TakenCredits } from '../events.ts';
import {
  type AppliedNote,
  amountsOf,
  type Invoice,
  type InvoiceState,
  paymentStatusOf,
} from '../invoice.ts';
import type { PaymentStatus } from '../values.ts';
import { CreditedLines, difference, moneyOf, type NoteLine, sum } from './credited.ts';
import { moneyOn, type PaymentPart } from './payments.ts';

export { type NoteLine, totalOf } from './credited.ts';

/** A credit note as it is asked for: what of which lines after discounts, before tax (D59) or with it, as the amount of the line is. */
export interface AskedNote {
  readonly credit_note_id: string;
  readonly lines: readonly { readonly line_id: string; readonly amount: DecimalText }[];
}

export type NoteKind = AppliedNote['kind'];

/**
 * The figures of a credit note for an invoice as it is. Each line has its share of the tax of its line. Throws 400 with
 * the pointer of a line of which less is left, and where the invoice has less money to give back, or owes less, than
 * the note says (D34, D59; E 17); 404 for a line that it does not have (D5).
 */
export function noteOn(invoice: Invoice, asked: AskedNote): AppliedNote {
  const kind = noteKindOf(invoice);
  assertRoom(invoice);
  const note = figuresOfNote(invoice, asked);
  assertWithin(invoice, kind, note.amount);
  if (kind === 'ADJUSTMENT') return { kind, ...note };
  return { kind, ...note, from: takenOf(moneyOn(invoice), note.amount) };
}

/** The figures of a note, whatever it does. Throws 404 and 400 for lines that it cannot have. */
export function figuresOfNote(
  invoice: Invoice,
  { lines: asked, credit_note_id }: AskedNote,
): InvoiceEventData<'InvoiceAdjusted'> {
  const credited = new CreditedLines(invoice);
  const lines = asked.map(({ line_id, amount }, index) =>
    noteLine(credited, line_id, amount, index),
  );
  const given_back = creditsBack(invoice, sum(lines.map((line) => line.credits)));
  return { credit_note_id, lines, amount: moneyOf(lines), given_back };
}

/** Credit notes that count for one invoice at most: each is part of its state. */
const notesMaximum = 500;

function assertRoom({ id, notes }: Invoice): void {
  if (notes.length < notesMaximum) return;
  throw refusal(`Invoice ${id} has ${notesMaximum} credit notes, and takes no more.`, {
    reason: 'limit_reached',
    limit: notesMaximum,
  });
}

const kinds: Readonly<Partial<Record<PaymentStatus, NoteKind>>> = {
  SUCCEEDED: 'REFUND',
  OVERPAID: 'REFUND',
  PARTIALLY_REFUNDED: 'REFUND',
  PENDING: 'ADJUSTMENT',
  PROCESSING: 'ADJUSTMENT',
  FAILED: 'ADJUSTMENT',
};

/**
 * The effect of a credit note on an invoice: it gives back what was paid, or lowers what is owed. Throws 400 for an invoice
 * that is not final, and for one of which everything was given back (E 17).
 */
export function noteKindOf(invoice: Invoice): NoteKind {
  const { id, invoice_status } = invoice;
  if (invoice_status !== 'FINALIZED') {
    throw refusal(`Invoice ${id} is ${invoice_status}; only a FINALIZED one can be credited.`, {
      reason: 'invoice_not_final',
      invoice_status,
    });
  }
  assertPurchaseOpen(invoice, 'be credited');
  const payment_status = paymentStatusOf(invoice);
  const kind = kinds[payment_status];
  if (kind) return kind;
  throw refusal(`Invoice ${id} is ${payment_status} and cannot be credited.`, {
    reason: 'not_creditable',
    payment_status,
  });
}

/** Tells whether nothing of a purchase remains to be paid. What was adjusted away before anybody paid is not bought. */
export const isBought = (invoice: Invoice): boolean =>
  invoice.cause.kind === 'purchase' &&
  invoice.invoice_status === 'FINALIZED' &&
  invoice.paid_at !== null &&
  (amountsOf(invoice).amount_paid !== zeroText || invoice.notes.length === 0);

/** Refuses to give the money of a purchase back whose credits the customer has: they would have both. Throws 400. */
export function assertPurchaseOpen(invoice: Invoice, what: string): void {
  const { id, purchase } = invoice;
  // From the payment on: the wallet is told at once, and what it loads is not taken back.
  if (purchase === null && !isBought(invoice)) return;
  throw refusal(
    `Invoice ${id} is for credits that the customer has, and cannot ${what}. Take the credits by a debit instead.`,
    { reason: 'not_creditable', purchase },
  );
}

/** The most that the money of a note of a kind may come to. */
export function maximumOf(invoice: Invoice, kind: NoteKind): DecimalText {
  const { amount_paid, overpaid_amount, refunded_amount, amount_remaining } = amountsOf(invoice);
  if (kind === 'ADJUSTMENT') return amount_remaining;
  const kept = decimal(amount_paid).minus(decimal(overpaid_amount));
  const given = moneyOf(invoice.given_back.flatMap(({ lines }) => lines));
  const left = kept.minus(decimal(refunded_amount)).minus(decimal(given));
  return left.cmp(zero) > 0 ? textOf(left) : zeroText;
}

function assertWithin(invoice: Invoice, kind: NoteKind, amount: DecimalText): void {
  const maximum = maximumOf(invoice, kind);
  if (decimal(amount).cmp(decimal(maximum)) <= 0) return;
  const message = `The note comes to ${amount} with tax; at most ${maximum} can be credited.`;
  throw new Problem('validation_error', message, {
    errors: [{ pointer: '/line_items', message }],
    details: {
      requested_amount: amount,
      maximum_allowed: maximum,
      credit_note_type: kind,
      invoice_total: invoice.total,
      invoice_amount_paid: amountsOf(invoice).amount_paid,
    },
  });
}

/** A line of a note, or of what a settlement gives back, with the tax that goes with it. It counts as credited from then on. */
export function noteLine(
  credited: CreditedLines,
  lineId: string,
  amount: DecimalText,
  index: number,
): NoteLine {
  const { invoice } = credited;
  const line = invoice.lines.find(({ id }) => id === lineId);
  const at = `/line_items/${index}`;
  if (!line) throw notFound('line of the invoice', lineId, `${at.slice(1)}/invoice_line_item_id`);
  const fault = digitsFault(amount, invoice.currency);
  if (fault) throw invalidField(`${at}/amount`, fault);
  const own = credited.of(line.id);
  const before = sum(own.map((part) => part.amount));
  const left = netOf(line).minus(decimal(before));
  if (decimal(amount).cmp(left) > 0) {
    const most = textOf(left.cmp(zero) > 0 ? left : zero);
    throw invalidField(
      `${at}/amount`,
      `must be at most ${most}, which is left of the line after discounts and ${taxPlace(line)}`,
    );
  }
  const after = textOf(decimal(before).plus(decimal(amount)));
  const { currency } = invoice;
  const included = difference(
    partUpTo(line, includedIn(line), after, currency),
    sum(own.map(({ included_tax = zeroText }) => included_tax)),
  );
  const noted = {
    line_id: line.id,
    amount,
    tax: difference(taxUpTo(invoice, line, after), sum(own.map(({ tax }) => tax))),
    ...(included !== zeroText && { included_tax: included }),
    credits: difference(creditsUpTo(invoice, line, after), sum(own.map(({ credits }) => credits))),
  };
  credited.add(noted);
  return noted;
}

/** The part of a line that nobody has credited yet, after discounts and without the tax that comes on top of it. */
export const leftOf = (credited: CreditedLines, line: InvoiceLine): DecimalText =>
  textOf(
    credited.of(line.id).reduce((left, { amount }) => left.minus(decimal(amount)), netOf(line)),
  );

const taxPlace = ({ tax_behavior }: InvoiceLine): string =>
  tax_behavior === 'inclusive' ? 'with the tax in it' : 'before tax';

/** The tax on top of a line that goes with a part of its net amount. */
const taxUpTo = ({ currency }: Invoice, line: InvoiceLine, part: DecimalText): DecimalText =>
  partUpTo(line, decimal(line.tax), part, currency);

/** The part of a tax of a line that goes with a part of its net amount: all of it with the whole, so that notes add up to it. */
function partUpTo(
  line: InvoiceLine,
  tax: Decimal,
  part: DecimalText,
  currency: Invoice['currency'],
): DecimalText {
  const [share, whole] = asIntegers(decimal(part), netOf(line));
  return whole === 0n ? zeroText : shareOf(tax, share, whole, currency);
}

/** The prepaid credits of a line that go back with a part of it and its tax: what money has paid goes back first. */
function creditsUpTo(invoice: Invoice, line: InvoiceLine, part: DecimalText): DecimalText {
  const whole = netOf(line).plus(decimal(line.tax));
  const money = whole.minus(decimal(line.credits));
  const beyond = decimal(part)
    .plus(decimal(taxUpTo(invoice, line, part)))
    .minus(money);
  return beyond.cmp(zero) > 0 ? textOf(beyond) : zeroText;
}

const places = 9;
const unit = decimal('1000000000');

/** Two amounts of money as whole numbers of one unit. */
const asIntegers = (...amounts: readonly ReturnType<typeof decimal>[]): [bigint, bigint] => {
  const [part, whole] = amounts.map((amount) => BigInt(amount.times(unit).toFixed(0)));
  return [part ?? 0n, whole ?? 0n];
};

/** The prepaid credits that go back, to the wallet that paid last first. Each gets its share of what is left of its own. */
function creditsBack(invoice: Invoice, amount: DecimalText): TakenCredits[] {
  const parts: TakenCredits[] = [];
  let missing = decimal(amount);
  const before = invoice.notes.flatMap(({ given_back }) => given_back);
  for (const { wallet_id, hold_id, ...taken } of invoice.taken.toReversed()) {
    if (missing.cmp(zero) <= 0) break;
    const back = before.filter((part) => part.hold_id === hold_id);
    const left = difference(taken.amount, sum(back.map((part) => part.amount)));
    const credits = difference(taken.credits, sum(back.map((part) => part.credits)));
    const part = smaller(missing, decimal(left));
    if (part.cmp(zero) <= 0) continue;
    const share = divide(decimal(credits).times(part), decimal(left), places);
    parts.push({
      wallet_id,
      hold_id,
      amount: textOf(part),
      credits: textOf(share),
    });
    missing = missing.minus(part);
  }
  return parts;
}

/** The parts of payments that an amount is taken from, in their order. */
function takenOf(money: readonly PaymentPart[], amount: DecimalText): PaymentPart[] {
  const parts: PaymentPart[] = [];
  let missing = decimal(amount);
  for (const { payment_id, amount: left } of money) {
    if (missing.cmp(zero) <= 0) break;
    const part = smaller(missing, decimal(left));
    parts.push({ payment_id, amount: textOf(part) });
    missing = missing.minus(part);
  }
  return parts;
}

/**
 * Applies a credit note, once for each note. It is decided on the invoice as it is now: no event where there is not
 * enough left by then, so that of two notes that exceed it together the second one stays a draft.
 */
export const applyNote =
  (asked: AskedNote): InvoiceDecision =>
  (state) => {
    const invoice = existing(state, 'invoice');
    if (noteIn(invoice, asked.credit_note_id)) return [];
    const note = noteOrProblem(invoice, asked);
    if (note instanceof Problem) return [];
    const { kind, ...data } = note;
    return 'from' in data
      ? [{ type: 'InvoiceRefunded', data }]
      : [{ type: 'InvoiceAdjusted', data }];
  };

/** The figures of a note, or why it cannot be applied. */
export function noteOrProblem(invoice: Invoice, asked: AskedNote): AppliedNote | Problem {
  try {
    return noteOn(invoice, asked);
  } catch (reason) {
    if (reason instanceof Problem) return reason;
    throw reason;
  }
}

/** The note that counts for an invoice; undefined where it does not. */
export const noteIn = ({ notes }: Invoice, creditNoteId: string): AppliedNote | undefined =>
  notes.find(({ credit_note_id }) => credit_note_id === creditNoteId);

/**
 * Takes an adjustment back: what it lowered is owed again. No event for one that does not count, and on an invoice that
 * is not final any more, of which nothing is owed.
 */
export const reverseAdjustment =
  (credit_note_id: string): InvoiceDecision =>
  (state: InvoiceState) => {
    const invoice = existing(state, 'invoice');
    const isOwed = invoice.invoice_status === 'FINALIZED';
    const isThere = noteIn(invoice, credit_note_id)?.kind === 'ADJUSTMENT';
    return isOwed && isThere ? [{ type: 'AdjustmentReversed', data: { credit_note_id } }] : [];
  };
