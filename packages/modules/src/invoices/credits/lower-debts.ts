import {
  type Decimal,
  type DecimalText,
  decimal,
  divide,
  type InvoiceLineId,
  minorUnits,
  Problem,
  smaller,
  textOf,
  zero,
  zeroText,
} from '@counterfoil/kernel';
import type { DividedCredit, LowerDebts } from '../../subscriptions/index.ts';
import type { InvoiceDecision } from '../decisions.ts';
import { amountsOf, type Invoice, invoice } from '../invoice.ts';
import { noteIn, noteOrProblem, totalOf } from '../settling/notes.ts';

/**
 * Credits of a charge whose invoice is final and not paid lower that invoice, as far as something is owed on it; the
 * rest was paid, and goes to the customer's wallet.
 */
export const lowerDebts: LowerDebts = async (context, { settlement_id }, credits) => {
  let lowered = zero;
  const ofInvoices = Map.groupBy(credits, ({ credit }) => credit.invoice_id);
  for (const [id, parts] of ofInvoices) {
    if (id === undefined) continue;
    const { events } = await context.execute(invoice, id, lowerInvoice(settlement_id, parts));
    for (const event of events) {
      if (event.type === 'InvoiceAdjusted') lowered = lowered.plus(decimal(totalOf(event.data)));
    }
  }
  return textOf(lowered);
};

const isPaid = (state: Invoice): boolean => amountsOf(state).amount_remaining === zeroText;

/** Times that a note is made a unit smaller where its tax is rounded up. */
const attempts = 3;

/**
 * Lowers what is owed on an invoice by credits of its charges, once for each settlement, whose id the note has. Nothing where nothing
 * is owed any more.
 */
export const lowerInvoice =
  (settlementId: string, credits: readonly DividedCredit[]): InvoiceDecision =>
  (state) => {
    if (state?.invoice_status !== 'FINALIZED' || isPaid(state)) return [];
    if (noteIn(state, settlementId)) return [];
    const worth = credits.reduce(
      (sum, { beyond, tax }) => sum.plus(decimal(beyond)).plus(decimal(tax)),
      zero,
    );
    const owed = smaller(decimal(amountsOf(state).amount_remaining), worth);
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      const lines = asked(state, credits, { owed, worth }, attempt);
      if (lines.length === 0) return [];
      const note = noteOrProblem(state, { credit_note_id: settlementId, lines });
      if (note instanceof Problem) continue;
      const { kind: _, ...data } = note;
      return 'from' in data ? [] : [{ type: 'InvoiceAdjusted', data }];
    }
    return [];
  };

/** Digits of a quotient before it is cut to money. */
const places = 9;

interface Part {
  readonly owed: Decimal;
  readonly worth: Decimal;
}

/** The lines of the note: of each credit the part that is owed, cut to money, and so many units less. */
function asked(
  { lines, currency }: Invoice,
  credits: readonly DividedCredit[],
  { owed, worth }: Part,
  less: number,
): { readonly line_id: InvoiceLineId; readonly amount: DecimalText }[] {
  const digits = minorUnits(currency);
  const unit = decimal(`1e-${digits}`);
  return credits.flatMap(({ credit, beyond }, index) => {
    const line = lines.find(
      ({ kind, subscription_line_item_id: id }) => kind === 'fixed' && id === credit.line_item_id,
    );
    const exact = owed.eq(worth)
      ? decimal(beyond)
      : divide(decimal(beyond).times(owed), worth, places).round(digits, 0);
    const amount = index === 0 ? exact.minus(unit.times(decimal(String(less)))) : exact;
    return line && amount.cmp(zero) > 0 ? [{ line_id: line.id, amount: textOf(amount) }] : [];
  });
}
