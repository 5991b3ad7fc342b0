import type { RequestContext } from '@counterfoil/engine/define';
import { derivedId, type InvoiceId, invalidOperation } from '@counterfoil/kernel';
import { draftInvoice, existingInvoice, type InvoiceDecision } from '../decisions.ts';
import type { InvoiceEventData } from '../events.ts';
import { type Invoice, invoice } from '../invoice.ts';

/** The id of the invoice that bills again what another one has billed: there is one. */
export const replacementOf = (id: InvoiceId): InvoiceId => derivedId('inv', `${id}\nbilled again`);

/**
 * Drafts the invoice that bills again what a void one of a subscription has billed (E 15.6 B), begins to make it final, and says so on
 * that. It has the same cause, and so the same reason and dates; what has changed since, such as late usage, it bills as well. Repeated,
 * it changes nothing. Returns its id, and what has begun it. Throws 404, and 400 for an invoice that is not void, or is of no subscription.
 */
export async function replaceVoided(context: RequestContext, id: InvoiceId) {
  const voided = existingInvoice(await context.load(invoice, id), id);
  assertReplaceable(voided);
  const by = replacementOf(id);
  const draft = draftInvoice(draftFrom(voided, by, context));
  // One command: a key makes one of each stream.
  const outcome = await context.execute(invoice, by, (state, at) => {
    const drafted = draft(state, at);
    if (drafted.length === 0) return [];
    return [...drafted, { type: 'FinalizationStarted', data: { at } }];
  });
  await context.execute(invoice, id, noteReplacement(id, by));
  return { by, outcome };
}

function assertReplaceable({ id, invoice_status, cause }: Invoice): void {
  if (invoice_status !== 'VOIDED') {
    throw invalidOperation(
      `Invoice ${id} is ${invoice_status}. Make it void first; a draft is computed again by recalculate-v2.`,
      { reason: 'not_void', invoice_status },
    );
  }
  if (cause.kind === 'settlements') return;
  throw invalidOperation(
    `Invoice ${id} bills nothing that a subscription has settled. Make another one by POST /invoices.`,
    { reason: 'unsuitable', cause: cause.kind },
  );
}

const draftFrom = (
  voided: Invoice,
  by: InvoiceId,
  { idempotencyKey, now }: RequestContext,
): InvoiceEventData<'InvoiceDrafted'> => ({
  id: by,
  invoice_type: voided.invoice_type,
  billing_reason: voided.billing_reason,
  cause: voided.cause,
  recalculates: voided.id,
  customer_id: voided.customer_id,
  subscription_customer_id: voided.subscription_customer_id,
  subscription_id: voided.subscription_id,
  currency: voided.currency,
  period_start: voided.period_start,
  period_end: voided.period_end,
  billing_period: voided.billing_period,
  billing_sequence: voided.billing_sequence,
  given_number: null,
  due_days: voided.due_days,
  due_date: null,
  description: voided.description,
  invoice_pdf_url: null,
  metadata: voided.metadata,
  finalizes_at: now,
  collection_method: voided.collection_method,
  idempotency_key: idempotencyKey,
});

/** Notes which invoice bills it again. Noted before, no event. */
const noteReplacement =
  (id: string, by: InvoiceId): InvoiceDecision =>
  (state) =>
    existingInvoice(state, id).recalculated_invoice_id === by
      ? []
      : [{ type: 'InvoiceReplaced', data: { by } }];
