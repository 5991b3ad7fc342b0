import {
  type Changes,
  changedFields,
  type Instant,
  invalidOperation,
  isEmpty,
  type Metadata,
  Problem,
} from '@counterfoil/kernel';
import { existingInvoice, type InvoiceDecision } from '../decisions.ts';
import type { requestableMessages } from '../events.ts';
import type { Invoice, InvoiceState } from '../invoice.ts';

/** A draft that nobody is making final. Throws 404, 400 for what is none, and 503 while it is being made final. */
export function draftToEdit(state: InvoiceState, id: string): Invoice {
  const invoice = existingInvoice(state, id);
  if (invoice.invoice_status !== 'DRAFT') {
    throw invalidOperation(
      `Invoice ${id} is ${invoice.invoice_status} and not a draft any more: its figures stand.`,
      { reason: 'no_draft', invoice_status: invoice.invoice_status },
    );
  }
  assertNotFinalizing(invoice);
  return invoice;
}

/** Refuses what must not happen while an invoice is being made final. */
export function assertNotFinalizing({ id, is_finalizing }: Invoice): void {
  if (!is_finalizing) return;
  throw new Problem('service_unavailable', `Invoice ${id} is being made final. Retry shortly.`, {
    retryAfterSeconds: 1,
  });
}

/** The fields of an invoice that a caller may change; what is left out stays. */
export interface InvoiceChanges {
  readonly due_date?: Instant | null | undefined;
  readonly description?: string | null | undefined;
  readonly invoice_pdf_url?: string | null | undefined;
  readonly metadata?: Metadata | undefined;
}

/**
 * Changes what is no figure of an invoice. No event when nothing changes. Throws 400 for another due date of an invoice of
 * which nothing is owed.
 */
export const changeInvoice =
  (id: string, given: InvoiceChanges): InvoiceDecision =>
  (state) => {
    const invoice = existingInvoice(state, id);
    const changes: Changes<InvoiceChanges> = changedFields<InvoiceChanges>(invoice, given);
    if (isEmpty(changes)) return [];
    if (changes.due_date !== undefined) assertPayable(invoice);
    assertNotFinalizing(invoice);
    return [{ type: 'InvoiceChanged', data: { changes } }];
  };

function assertPayable({ id, invoice_status }: Invoice): void {
  if (invoice_status === 'DRAFT' || invoice_status === 'FINALIZED') return;
  throw invalidOperation(`Invoice ${id} is ${invoice_status}: nothing of it falls due.`, {
    reason: invoice_status === 'VOIDED' ? 'voided' : 'not_final',
    invoice_status,
  });
}

/** Has an invoice sent to its customer, by whoever receives its messages. Throws 400 for one that was never final. */
export const triggerCommunication =
  (id: string): InvoiceDecision =>
  (state) => {
    const { finalized_at, invoice_status } = existingInvoice(state, id);
    if (finalized_at === null) {
      throw invalidOperation(
        `Invoice ${id} is ${invoice_status}: only what is final is sent to a customer.`,
        { reason: 'not_final', invoice_status },
      );
    }
    return [{ type: 'CommunicationTriggered', data: {} }];
  };

type RequestableMessage = (typeof requestableMessages)[number];

/** The message that tells of the last turn in the life of an invoice. */
const lastMessageOf = ({ invoice_status }: Invoice): RequestableMessage => {
  switch (invoice_status) {
    case 'DRAFT':
    case 'SKIPPED':
      return 'update';
    case 'FINALIZED':
      return 'update.finalized';
    case 'VOIDED':
      return 'update.voided';
    default:
      return invoice_status satisfies never;
  }
};

/**
 * Sends a message about an invoice again, with the invoice as it is.
 *
 * @param message what comes after `invoice.` in its type; null: the last turn of its life
 */
export const requestMessage =
  (id: string, message: RequestableMessage | null): InvoiceDecision =>
  (state) => {
    const invoice = existingInvoice(state, id);
    return [{ type: 'MessageRequested', data: { message: message ?? lastMessageOf(invoice) } }];
  };
