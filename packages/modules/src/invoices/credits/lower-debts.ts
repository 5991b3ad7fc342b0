import type { WorkContext } from '@counterfoil/engine/define';
import {
  type Decimal,
  decimal,
  divide,
  invariant,
  minorUnits,
  shareOf,
  smaller,
  textOf,
  zero,
  zeroText,
} from '@counterfoil/kernel';
import { type DividedCredit, type LowerDebts, settledOf } from '../../subscriptions/index.ts';
import { netOf } from '../amounts.ts';
import type { InvoiceDecision } from '../decisions.ts';
import { invoicedUnder, invoiceIdOf } from '../drafting/cause.ts';
import type { InvoiceEvent, InvoiceEventData, InvoiceLine } from '../events.ts';
import { amountsOf, type Invoice, invoice } from '../invoice.ts';
import { CreditedLines, type NoteLine, totalOf } from '../settling/credited.ts';
import { type AskedNote, figuresOfNote, leftOf, noteIn, noteLine } from '../settling/notes.ts';
import { hasCharge } from './of-charge.ts';

/**
 * Credits of a charge whose invoice is final and not paid lower that invoice, as far as something is owed on it; the
 * rest was paid, and goes to the customer's wallet. Those of a charge whose invoice is not final yet are lines of that.
 */
export const lowerDebts: LowerDebts = async (context, id, { settlement_id }, credits) => {
  let nobodys = zero;
  const ofFinal: DividedCredit[] = [];
  for (const credit of credits) {
    const final = credit.credit.invoice_id ? credit : await onFinal(context, id, credit);
    nobodys = nobodys.plus(worthOf([credit])).minus(worthOf(final ? [final] : []));
    if (final) ofFinal.push(final);
  }
  for (const [invoiceId, parts] of Map.groupBy(ofFinal, ({ credit }) => credit.invoice_id)) {
    if (invoiceId === undefined) continue;
    const lower = lowerInvoice(settlement_id, parts);
    const { events } = await context.execute(invoice, invoiceId, lower);
    for (const event of events) {
      if (event.type === 'InvoiceAdjusted') nobodys = nobodys.plus(decimal(totalOf(event.data)));
    }
  }
  return textOf(nobodys);
};

const worthOf = (credits: readonly DividedCredit[]): Decimal =>
  credits.reduce((sum, { beyond, tax }) => sum.plus(decimal(beyond)).plus(decimal(tax)), zero);

/**
 * A credit of a charge of which the subscription did not know yet what it came to on its invoice, as it stands there; null where
 * the invoice takes the credit as a line, or is void. The invoice is computed after what is in the log before it is begun to be made
 * final, so that a draft will have it. While it is being made final nobody knows: this is tried again.
 */
async function onFinal(
  context: WorkContext,
  id: string,
  credit: DividedCredit,
): Promise<DividedCredit | null> {
  const { settled } = await settledOf(context, id, (each) => hasCharge(each, credit));
  const [own] = settled;
  // Of a subscription before, or moved by a pause: it counts as paid.
  if (!own) return credit;
  const invoiceId = invoiceIdOf(invoicedUnder(own.state, own.settlement), own.settlement);
  const state = await context.load(invoice, invoiceId);
  if (state?.is_finalizing) throw new Error(`${invoiceId} is being made final`);
  if (state === null || state.invoice_status === 'DRAFT' || state.invoice_status === 'VOIDED') {
    return null;
  }
  const { line_item_id, whole, span } = credit.credit;
  const ofLine = state.lines.filter((line) => line.subscription_line_item_id === line_item_id);
  if (ofLine.some((line) => line.kind === 'credit' && line.period_start === span.start))
    return null;
  const line = ofLine.find((each) => each.kind === 'fixed' && each.period_start === whole.start);
  return line ? asInvoiced(state, line, credit) : credit;
}

/** A credit net of the discounts of its invoice, with its tax. */
function asInvoiced(
  { id: invoice_id, currency }: Invoice,
  line: InvoiceLine,
  { credit, within, beyond }: DividedCredit,
): DividedCredit {
  const digits = decimal(`1e${minorUnits(currency)}`);
  const units = (amount: string): bigint => BigInt(decimal(amount).times(digits).toFixed(0));
  const share = (amount: Decimal) =>
    shareOf(amount, units(beyond), units(credit.charged), currency);
  return {
    credit: { ...credit, invoice_id },
    within,
    beyond: share(netOf(line)),
    tax: share(decimal(line.tax)),
  };
}

/** Times that a note is made smaller, because tax is rounded in each of its lines: the second time it is less than a unit for each. */
const attempts = 10;

/**
 * Lowers what is owed on an invoice by credits of its charges, once for each settlement, whose id the note has; what was paid of
 * them, which goes to the customer's wallet, is remembered, so that nothing gives it back again.
 */
export const lowerInvoice =
  (settlement_id: string, credits: readonly DividedCredit[]): InvoiceDecision =>
  (state) => {
    if (state?.invoice_status !== 'FINALIZED') return [];
    const isKnown = state.given_back.some((given) => given.settlement_id === settlement_id);
    if (isKnown || noteIn(state, settlement_id)) return [];
    const note = adjustmentBy(state, settlement_id, credits);
    const lines = paidParts(note === null ? state : withNote(state, note), credits, note);
    const given: InvoiceEvent = { type: 'ChargesGivenBack', data: { settlement_id, lines } };
    return [
      ...(note === null ? [] : [{ type: 'InvoiceAdjusted', data: note } as const]),
      ...(lines.length === 0 ? [] : [given]),
    ];
  };

const withNote = (state: Invoice, note: Adjustment): Invoice => ({
  ...state,
  notes: [...state.notes, { kind: 'ADJUSTMENT', ...note }],
});

type Adjustment = InvoiceEventData<'InvoiceAdjusted'>;

/**
 * The note by which credits lower what is owed; null where nothing is. It does so whatever is known of a payment, and however many notes
 * there are: what it left out would count as paid, and would go to the customer.
 */
function adjustmentBy(
  state: Invoice,
  settlementId: string,
  credits: readonly DividedCredit[],
): Adjustment | null {
  const owed = decimal(amountsOf(state).amount_remaining);
  if (owed.cmp(zero) <= 0) return null;
  let lines = asked(state, credits, owed);
  for (let attempt = 0; lines.length > 0; attempt += 1) {
    const note = figuresOfNote(state, { credit_note_id: settlementId, lines });
    const over = decimal(note.amount).minus(owed);
    if (over.cmp(zero) <= 0) return note;
    invariant(attempt < attempts, `${state.id}: no note of ${settlementId} fits what is owed`);
    lines = lessBy(lines, over);
  }
  return null;
}

/** Lines that come to so much less, the last ones first. */
function lessBy(lines: readonly AskedLine[], amount: Decimal): readonly AskedLine[] {
  let missing = amount;
  const left = lines.toReversed().map((line) => {
    const part = smaller(missing, decimal(line.amount));
    missing = missing.minus(part);
    return { ...line, amount: textOf(decimal(line.amount).minus(part)) };
  });
  return left.toReversed().filter((line) => line.amount !== zeroText);
}

/** The parts of lines that credits are of and no note has lowered: they were paid. */
function paidParts(
  state: Invoice,
  credits: readonly DividedCredit[],
  note: Adjustment | null,
): NoteLine[] {
  const parts: NoteLine[] = [];
  const credited = new CreditedLines(state);
  const noted = new Map(note?.lines.map(({ line_id, amount }) => [line_id, decimal(amount)]));
  for (const { credit, beyond } of credits) {
    const line = chargedLineOf(state, credit.line_item_id);
    if (!line) continue;
    const lowered = smaller(noted.get(line.id) ?? zero, decimal(beyond));
    noted.set(line.id, (noted.get(line.id) ?? zero).minus(lowered));
    const left = decimal(leftOf(credited, line));
    const amount = smaller(decimal(beyond).minus(lowered), left);
    if (amount.cmp(zero) > 0) parts.push(noteLine(credited, line.id, textOf(amount), parts.length));
  }
  return parts;
}

/** The line of the charge that a credit is of. */
const chargedLineOf = ({ lines }: Invoice, lineItemId: string): InvoiceLine | undefined =>
  lines.find(({ kind, subscription_line_item_id: id }) => kind === 'fixed' && id === lineItemId);

/** Digits of a quotient before it is cut to money. */
const places = 9;

type AskedLine = AskedNote['lines'][number];

/** The lines of the note: of each credit the part that is owed, cut to money, and no more than its line has left. */
function asked(
  state: Invoice,
  credits: readonly DividedCredit[],
  owed: Decimal,
): readonly AskedLine[] {
  const worth = worthOf(credits);
  const digits = minorUnits(state.currency);
  const lines: AskedLine[] = [];
  const credited = new CreditedLines(state);
  for (const { credit, beyond } of credits) {
    const line = chargedLineOf(state, credit.line_item_id);
    if (!line) continue;
    const part =
      owed.cmp(worth) >= 0
        ? decimal(beyond)
        : divide(decimal(beyond).times(owed), worth, places).round(digits, 0);
    const before = lines.filter(({ line_id }) => line_id === line.id);
    const left = before.reduce(
      (rest, { amount }) => rest.minus(decimal(amount)),
      decimal(leftOf(credited, line)),
    );
    const amount = smaller(part, left);
    if (amount.cmp(zero) > 0) lines.push({ line_id: line.id, amount: textOf(amount) });
  }
  return lines;
}
