import type { RequestContext } from '@counterfoil/engine/define';
import { decimal, textOf } from '@counterfoil/kernel';
import { assertCorrectable } from '../credit-notes/index.ts';
import { type InvoiceFigures, includedTaxOf, type UsageAt, usageAt } from '../invoices/index.ts';
import { correctionsDocumented, noteLinesOf } from './documents.ts';
import {
  applyRerate,
  type Correction,
  correctedOf,
  documentsOf,
  type InvoiceReratingState,
  invoiceRerating,
  isMore,
} from './invoice-rerating.ts';
import { type RatedInvoice, ratedAgain } from './rate-again.ts';
import type { RatedAgain, RerateInvoice } from './schema.ts';

/**
 * Rates an invoice again under prices as they should have been, and shows the difference; where that is wanted it is mended by a credit note, an
 * invoice, or both, once: what earlier requests have mended is not mended again. Throws 404, and 400 where the invoice has not
 * enough left for the note.
 */
export async function rerate(
  context: RequestContext,
  id: string,
  { prices, apply, memo }: RerateInvoice,
  at: UsageAt = usageAt,
): Promise<RatedAgain> {
  const before = await context.load(invoiceRerating, id);
  const rated = await ratedAgain(context, id, prices, at);
  if (!apply) return shown(rated, before, null);
  const decision = applyRerate({ prices, memo: memo ?? null, differences: differencesOf(rated) });
  const outcome = await context.execute(invoiceRerating, id, {
    prepare: async () => {
      const planned = decision(await context.load(invoiceRerating, id), context.now);
      for (const event of planned) {
        if (event.type === 'RerateApplied') await assertNote(context, rated, event.data);
      }
      return decision;
    },
  });
  await context.carryOut(correctionsDocumented, id, outcome);
  const applied = outcome.events.find((event) => event.type === 'RerateApplied');
  const mended = applied?.type === 'RerateApplied' ? applied.data : null;
  // What this request has mended was not mended before it.
  return shown(rated, withoutRequest(outcome.state, mended?.number ?? null), mended);
}

/** Holds the credit note against the invoice as it is now, before anything is written. */
async function assertNote(
  context: RequestContext,
  { invoice: credited }: RatedInvoice,
  { number, corrections }: Mended,
): Promise<void> {
  const lines = noteLinesOf(corrections);
  const { noteId } = documentsOf(credited.id, number);
  if (lines.length > 0) await assertCorrectable(context, noteId, credited, { lines, memo: null });
}

interface Mended {
  readonly number: number;
  readonly corrections: readonly Correction[];
}

const withoutRequest = (state: InvoiceReratingState, number: number | null): InvoiceReratingState =>
  state && {
    requests: state.requests.filter((request) => number === null || request.number < number),
  };

const differencesOf = ({ lines }: RatedInvoice): readonly Correction[] =>
  lines.map(({ line, net }) => ({
    line_id: line.id,
    display_name: line.display_name,
    price_type: line.price_type,
    net,
  }));

function shown(
  { invoice: billed, before, after, lines }: RatedInvoice,
  state: InvoiceReratingState,
  mended: Mended | null,
): RatedAgain {
  const [was, is] = [figuresView(before), figuresView(after)];
  const documents = documentsOf(billed.id, mended?.number ?? 0);
  const corrections = mended?.corrections ?? [];
  return {
    invoice_id: billed.id,
    currency: billed.currency,
    lines: lines.map(({ line, amount_before, net, tax }) => ({
      line_item_id: line.id,
      display_name: line.display_name,
      price_id: line.price_id,
      quantity: line.quantity,
      amount_before,
      amount_after: line.amount,
      net_difference: net,
      tax_difference: tax,
      corrected_before: correctedOf(state, line.id),
    })),
    before: was,
    after: is,
    difference: textOf(decimal(is.total).minus(decimal(was.total))),
    applied: mended !== null,
    credit_note_id: corrections.some((each) => !isMore(each)) ? documents.noteId : null,
    correction_invoice_id: corrections.some(isMore) ? documents.invoiceId : null,
  };
}

/** Figures before prepaid credits: those are a means of payment. */
const figuresView = ({ subtotal, total_discount, total_tax, lines }: InvoiceFigures) => ({
  subtotal,
  total_discount,
  total_tax,
  total: textOf(
    decimal(subtotal)
      .minus(decimal(total_discount))
      .plus(decimal(total_tax))
      .minus(decimal(includedTaxOf({ lines }))),
  ),
});
