import type { RequestContext } from '@counterfoil/engine/define';
import type { DecimalText } from '@counterfoil/kernel';
import type { Invoice } from '../invoice.ts';

/** Everything that invoices have to know of how they are collected: payments tell it. */
export interface Collecting {
  /** Collects at once what an invoice that is final is owed, where that is to be done automatically. */
  readonly collect: (context: RequestContext, invoiceId: string) => Promise<void>;
  /** Tells whether a payment is one of those by which an invoice was collected as soon as it was final. */
  readonly isCollected: (invoiceId: string, paymentId: string) => boolean;
  /** Money that would be left of an invoice after what wallets pay when it is collected. */
  readonly restOf: (context: RequestContext, invoice: Invoice) => Promise<DecimalText>;
}
