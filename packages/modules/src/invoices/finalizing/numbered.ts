import type { WorkContext } from '@counterfoil/engine/define';
import { existing, Problem } from '@counterfoil/kernel';
import type { InvoiceDecision } from '../decisions.ts';
import { type Invoice, type InvoiceState, invoice, numberClaim } from '../invoice.ts';
import {
  invoiceSequence,
  numberTaken,
  replaceNumber,
  sequenceId,
  shownNumber,
  takeNumber,
} from '../sequence.ts';

/** Times that an invoice takes another number, because others were given what it had: a defect must not use up a sequence. */
const replacementsMaximum = 20;

/** Numbers in a row that callers have given to invoices of their own, and that one step passes over. */
const passedMaximum = 10_000;

/**
 * Makes an invoice final with its number: the one that its caller has given, or the next of the sequence that was planned for it.
 * A number is held by one invoice, so that one of the sequence which a caller has given to another before is passed over. Returns the
 * invoice after that.
 */
export async function numbered(
  context: WorkContext,
  planned: Invoice,
  decide: (number: string) => InvoiceDecision,
): Promise<InvoiceState> {
  const { id, given_number, plan } = planned;
  if (given_number !== null)
    return (await context.execute(invoice, id, decide(given_number))).state;
  const numbering = existing(plan?.numbering ?? null, 'sequence of the invoice');
  const { prefix, start_sequence } = numbering;
  const sequence = sequenceId(prefix);
  const shown = (number: number) => shownNumber(prefix, number, numbering);
  const first = await context.execute(invoiceSequence, sequence, takeNumber(id, start_sequence));
  let number = numberTaken(first.state, id);
  for (let replaced = 0; replaced < replacementsMaximum; replaced += 1) {
    try {
      return (await context.execute(invoice, id, decide(shown(number)))).state;
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'already_exists') throw error;
    }
    const taken = number;
    const { state } = await context.execute(invoiceSequence, sequence, {
      prepare: async () => replaceNumber(id, taken, await firstFree(context, taken + 1, shown)),
    });
    number = numberTaken(state, id);
  }
  throw new Error(`${id} finds no number of ${prefix} that is free`);
}

/** The first number from one on that no invoice has. */
async function firstFree(
  context: Pick<WorkContext, 'holderOf'>,
  from: number,
  shown: (number: number) => string,
): Promise<number> {
  for (let number = from; number < from + passedMaximum; number += 1) {
    if ((await context.holderOf(invoice, numberClaim, shown(number))) === null) return number;
  }
  throw new Error(`${passedMaximum} numbers from ${shown(from)} on are given`);
}
