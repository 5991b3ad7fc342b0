import type { RequestContext, WorkContext } from '@counterfoil/engine/define';
import { invalidOperation, zeroText } from '@counterfoil/kernel';
import type { Recorded } from '../../subscriptions/index.ts';
import { planOf } from '../finalizing/plan.ts';
import { withHolds } from '../finalizing/reactions.ts';
import { amountsOf, type Invoice } from '../invoice.ts';
import type { Collecting } from './collecting.ts';
import { billedBy, foldedInvoice, foreseenDraft } from './foresee.ts';

/**
 * Refuses a subscription whose opening invoice its payer's wallets would not pay at once: prepaid credits first, then what a round of collection
 * takes. Everything is worked out on what there is now, and nothing is written (ADR 47). One that opens no period now passes.
 *
 * @throws a Problem with what would be owed, and what of it would remain
 */
export async function assertPaidAtOnce(
  context: RequestContext,
  id: string,
  events: Recorded['events'],
  { restOf }: Collecting,
): Promise<void> {
  if (billedBy(events).length === 0) return;
  const draft = await foreseenDraft(context, id, events);
  if (draft === null) {
    throw invalidOperation(
      'The subscription would begin with several invoices at once. Let it begin now, or choose another payment_behavior.',
      { reason: 'incomplete', field: 'payment_behavior' },
    );
  }
  const owing = await finalOf(context, draft);
  const rest = await restOf(context, owing);
  if (rest === zeroText) return;
  const { amount_due } = amountsOf(owing);
  throw invalidOperation(
    `The wallets of ${owing.customer_id} would not pay the first invoice: ${rest} of ${amount_due} ${owing.currency} would be owed. Only wallets are asked: choose allow_incomplete to let a saved method pay it.`,
    { reason: 'insufficient_credits', amount_due, amount_remaining: rest },
  );
}

/** A draft as it would be final now, with the prepaid credits that it would hold. */
async function finalOf(context: RequestContext, draft: Invoice): Promise<Invoice> {
  const plan = await planOf(context, draft, draft, context.now);
  const planned: Invoice = { ...draft, plan };
  const { figures, taken } = await withHolds(onlyDecided(context), planned);
  const final = { invoice_number: '', position: null, due_date: null, taken: [...taken] };
  return foldedInvoice(
    context,
    [{ type: 'InvoiceFinalized', data: { ...figures, ...final } }],
    planned,
  );
}

/** Commands that are decided on what there is now, and not recorded. */
const onlyDecided = (context: RequestContext): Pick<WorkContext, 'execute'> => ({
  execute: async (aggregate, id, decision) => {
    const state = await context.load(aggregate, id);
    const decide = typeof decision === 'function' ? decision : await decision.prepare();
    const events = decide(state, context.now);
    return { state, events, revision: -1, replayed: false } as never;
  },
});
