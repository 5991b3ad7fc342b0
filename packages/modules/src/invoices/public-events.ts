import {
  type Change,
  type Embedded,
  type PublicEvent,
  type PublicEventTypes,
  publicEvents,
} from '@counterfoil/engine/define';
import { z } from 'zod';
import { customerRecords } from '../customers/index.ts';
import type { InvoiceEvent } from './events.ts';
import { type InvoiceState, invoice } from './invoice.ts';
import { invoiceSchema } from './schema.ts';
import { invoiceView } from './view.ts';

/** The messages of each type of event: what comes after `invoice.`; null where an event has none (E 22.3). */
function messageOf(event: InvoiceEvent): string | null {
  switch (event.type) {
    // It says nothing before it has lines.
    case 'InvoiceDrafted':
    case 'FinalizationStarted':
    case 'ChargesGivenBack':
    case 'PurchaseEnded':
    case 'WalletChosen':
    // The subscription tells of it.
    case 'SubscriptionEnded':
      return null;
    case 'InvoiceComputed':
      // What is computed to be final is told when it is.
      return event.data.plan === null ? 'update' : null;
    case 'TaxesNotCalculated':
    case 'InvoiceSkipped':
    case 'InvoiceChanged':
    case 'InvoiceAdjusted':
    case 'AdjustmentReversed':
    case 'InvoiceReplaced':
      return 'update';
    case 'InvoiceFinalized':
      return 'update.finalized';
    case 'PaymentSettled':
    case 'PaymentReturned':
    case 'PaymentNoted':
    case 'InvoiceRefunded':
      return 'update.payment';
    case 'FellOverdue':
      return 'payment.overdue';
    case 'CommunicationTriggered':
      return 'communication.triggered';
    case 'MessageRequested':
      return event.data.message;
    case 'InvoiceVoided':
      return 'update.voided';
    default:
      return event satisfies never;
  }
}

/** The message of an event, with the invoice as it is from then on. */
function invoiceMessages(
  { event, after }: Change<InvoiceState, InvoiceEvent>,
  embedded: Embedded<'customer'>,
): readonly PublicEvent[] {
  const message = messageOf(event);
  if (!after || message === null) return [];
  const shown = { ...invoiceView(after), ...embedded };
  return [{ type: `invoice.${message}`, resourceId: after.id, body: { invoice: shown } }];
}

const body = z.object({ invoice: invoiceSchema });

const types: PublicEventTypes = {
  'invoice.update': {
    summary: 'An invoice is computed, skipped, changed or adjusted',
    body,
  },
  'invoice.update.finalized': { summary: 'An invoice is final', body },
  'invoice.update.payment': {
    summary: 'A payment of an invoice comes, is on its way, fails or goes back',
    body,
  },
  'invoice.update.voided': { summary: 'An invoice is void', body },
  'invoice.payment.overdue': {
    summary: 'An invoice is not paid by its due date',
    kind: 'entry',
    body,
  },
  'invoice.communication.triggered': {
    summary: 'An invoice is to be sent to its customer',
    kind: 'entry',
    body,
  },
};

/** The public events of invoices, each with its customer. */
export const invoicePublicEvents = publicEvents(invoice, invoiceMessages, types, {
  customer: { record: customerRecords, id: ({ after }) => after?.customer_id },
});
