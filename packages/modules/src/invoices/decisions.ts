import {
  type Decision,
  type Instant,
  invalidOperation,
  notFound,
  shiftedBy,
} from '@counterfoil/kernel';
import type { InvoiceEvent, InvoiceEventData } from './events.ts';
import type { Invoice, InvoiceState } from './invoice.ts';
import type { TaxesUnavailable } from './tax-calculation.ts';

export type InvoiceDecision = Decision<InvoiceState, InvoiceEvent>;

/** Drafts an invoice, once for its cause: its id follows from that. Drafted before, no event. */
export const draftInvoice =
  (data: InvoiceEventData<'InvoiceDrafted'>): InvoiceDecision =>
  (state) =>
    state === null ? [{ type: 'InvoiceDrafted', data }] : [];

/** Drafts an invoice with its figures, once for its cause. Drafted before, no event. */
export const draftWithFigures =
  (
    data: InvoiceEventData<'InvoiceDrafted'>,
    figures: InvoiceEventData<'InvoiceComputed'>,
  ): InvoiceDecision =>
  (state) =>
    state === null
      ? [
          { type: 'InvoiceDrafted', data },
          { type: 'InvoiceComputed', data: figures },
        ]
      : [];

/** Gives a draft its figures. One that is being made final, or is final, keeps those that it has. */
export const computeDraft =
  (data: InvoiceEventData<'InvoiceComputed'>): InvoiceDecision =>
  (state) =>
    state?.invoice_status === 'DRAFT' && !state.is_finalizing
      ? [{ type: 'InvoiceComputed', data }]
      : [];

/** Begins to make a draft final (D58: at any time). Begun before, or final, no event. Throws 404, and 400 for a void one. */
export const startFinalization =
  (id: string): InvoiceDecision =>
  (state, at) => {
    const invoice = existingInvoice(state, id);
    if (invoice.invoice_status === 'VOIDED') {
      throw invalidOperation(`Invoice ${id} is void.`, { reason: 'ended' });
    }
    const isDraft = invoice.invoice_status === 'DRAFT' && !invoice.is_finalizing;
    return isDraft ? [{ type: 'FinalizationStarted', data: { at } }] : [];
  };

/** Begins to make a draft final whose time has come. Nothing due, no event. */
export const finalizeDue =
  (id: string): InvoiceDecision =>
  (state, at) =>
    isDue(state, at) ? startFinalization(id)(state, at) : [];

/** Tells whether an invoice is to be made final by itself by now. */
export const isDue = (state: InvoiceState, at: Instant): boolean =>
  state?.invoice_status === 'DRAFT' && state.finalizes_at !== null && state.finalizes_at <= at;

/** The figures with which an invoice is made final, or skipped. */
export const computeFinal =
  (data: InvoiceEventData<'InvoiceComputed'>): InvoiceDecision =>
  (state) =>
    isFinalizing(state) ? [{ type: 'InvoiceComputed', data }] : [];

/** The time from one attempt to learn the taxes of an invoice to the next; after the last of them a day each. */
const minute = 60_000;
const taxDelays = [1, 5, 15, 60, 360].map((minutes) => minutes * minute);
const day = 1_440 * minute;

/** Makes what was to be final a draft again, because nobody says what taxes it has: it is tried again later (ADR 59). */
export const postponeFinalization =
  ({ reason, message }: TaxesUnavailable): InvoiceDecision =>
  (state, at) => {
    if (!isFinalizing(state)) return [];
    const retries_at = shiftedBy(at, taxDelays[state?.tax_failure?.times ?? 0] ?? day);
    return [{ type: 'TaxesNotCalculated', data: { reason, message, retries_at } }];
  };

/** Notes that a draft has no figures, because nobody says what taxes it has: it is made final in its time. */
export const noteTaxFailure =
  ({ reason, message }: TaxesUnavailable): InvoiceDecision =>
  (state) =>
    state?.invoice_status === 'DRAFT' && !state.is_finalizing
      ? [{ type: 'TaxesNotCalculated', data: { reason, message, retries_at: null } }]
      : [];

/** Drafts an invoice without figures, because nobody says what taxes it has. Drafted before, no event. */
export const draftWithoutTaxes =
  (
    data: InvoiceEventData<'InvoiceDrafted'>,
    { reason, message }: TaxesUnavailable,
    when: 'tries_again' | 'has_its_time',
  ): InvoiceDecision =>
  (state, at) => {
    if (state !== null) return [];
    const retries_at = when === 'tries_again' ? shiftedBy(at, taxDelays[0] ?? day) : null;
    return [
      { type: 'InvoiceDrafted', data },
      { type: 'TaxesNotCalculated', data: { reason, message, retries_at } },
    ];
  };

/** Makes an invoice final: the commit point (ADR 44). No event for one that is not being made final any more. */
export const finalizeInvoice =
  (data: InvoiceEventData<'InvoiceFinalized'>): InvoiceDecision =>
  (state) =>
    isFinalizing(state) ? [{ type: 'InvoiceFinalized', data }] : [];

/** Leaves an invoice without anything to bill behind, without a number (D58). */
export const skipInvoice =
  (data: InvoiceEventData<'InvoiceSkipped'>): InvoiceDecision =>
  (state) =>
    isFinalizing(state) ? [{ type: 'InvoiceSkipped', data }] : [];

const isFinalizing = (state: InvoiceState): boolean =>
  state?.invoice_status === 'DRAFT' && state.is_finalizing;

/** The invoice, which must exist. Throws 404. */
export function existingInvoice(state: InvoiceState, id: string): Invoice {
  if (state === null) throw notFound('invoice', id);
  return state;
}
