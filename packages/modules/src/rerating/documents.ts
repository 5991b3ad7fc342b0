import { type ReactionContext, reaction } from '@counterfoil/engine/define';
import { type DecimalText, decimal, existing, Problem, textOf } from '@counterfoil/kernel';
import { correctByNote } from '../credit-notes/index.ts';
import { draftCorrection, type Invoice, invoice } from '../invoices/index.ts';
import type { TaxBehavior } from '../taxes/index.ts';
import {
  type Correction,
  documentsOf,
  type InvoiceReratingEvent,
  invoiceRerating,
  isMore,
  noteDocumented,
  refuseCorrection,
} from './invoice-rerating.ts';

/** The lines that cost less, as a credit note gives them back. */
export const noteLinesOf = (corrections: readonly Correction[]) =>
  corrections
    .filter((each) => !isMore(each))
    .map(({ line_id, net }) => ({ line_id, amount: textOf(decimal(net).neg()) as DecimalText }));

const behaviorOf = ({ lines }: Invoice, lineId: string): TaxBehavior =>
  lines.find(({ id }) => id === lineId)?.tax_behavior ?? 'exclusive';

/**
 * The documents that mend an invoice: a credit note for lines that cost less, an invoice for lines that cost more. A note that the invoice
 * does not take, because other notes were faster, is noted.
 */
export const correctionsDocumented = reaction(invoiceRerating, {
  name: 'documents of a correction',
  on: {
    RerateApplied: async ({ aggregate_id, data }, context) => {
      await documented(context, aggregate_id, data);
      const { number, corrections } = data;
      const decision = noteDocumented(number, corrections.length);
      await context.execute(invoiceRerating, aggregate_id, decision);
    },
  },
});

type Applied = Extract<InvoiceReratingEvent, { readonly type: 'RerateApplied' }>['data'];

async function documented(
  context: ReactionContext,
  id: string,
  { number, corrections, memo }: Applied,
): Promise<void> {
  const original = existing(await context.load(invoice, id), 'invoice');
  const { noteId, invoiceId } = documentsOf(id, number);
  const more = corrections.filter(isMore);
  if (more.length > 0) {
    await draftCorrection(context, invoiceId, original, {
      lines: more.map(({ net, ...line }) => ({
        ...line,
        amount: net,
        tax_behavior: behaviorOf(original, line.line_id),
      })),
      memo,
    });
  }
  const lines = noteLinesOf(corrections);
  if (lines.length === 0) return;
  try {
    await correctByNote(context, noteId, original, { lines, memo });
  } catch (error) {
    if (!(error instanceof Problem) || error.code === 'service_unavailable') throw error;
    await context.execute(invoiceRerating, id, refuseCorrection(number, error));
  }
}
