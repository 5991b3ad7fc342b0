import type { AskingContext } from '@counterfoil/engine/define';
import { type Currency, type Instant, Problem } from '@counterfoil/kernel';
import type { BroughtAssociation, TaxFailureReason } from '../taxes/index.ts';
import type { BilledTax, Taxation, UntaxedBill } from './bill.ts';

/** The invoice whose taxes are looked for. */
export interface TaxedInvoice {
  readonly id: string;
  readonly subscription_id: string | null;
  readonly customer_id: string;
  readonly currency: Currency;
  /** The instant that decides about dates: the end of its period. */
  readonly at: Instant;
  /** Associations that its subscription brings, and that are not recorded yet. */
  readonly brought?: readonly BroughtAssociation[];
}

/** The question which taxes an invoice has. */
export interface TaxQuestion {
  readonly invoice: TaxedInvoice;
  readonly bill: UntaxedBill;
  /** The taxes that a request has named, which stand in place of all others; null: it has named none. */
  readonly named: readonly BilledTax[] | null;
  /** `preview`: nothing is recorded, and somebody waits. */
  readonly purpose: 'invoice' | 'preview';
}

/** The place in which taxes are asked for, with the records that may be looked at. */
export type TaxContext = Pick<AskingContext, 'read' | 'load' | 'recalled' | 'principal'>;

/**
 * Whoever says what taxes an invoice has (ADR 59). The answer is recorded with the figures of the invoice before anything rests on
 * them; a question may be asked again, and is answered anew then.
 */
export interface TaxCalculation {
  /** Throws `TaxesUnavailable` where nobody says so now. */
  taxation(context: TaxContext, question: TaxQuestion): Promise<Taxation>;
}

const retryAfterSeconds = 30;

/** Nobody says now what taxes an invoice has. A caller is answered 503, and work that the service does by itself goes on later. */
export class TaxesUnavailable extends Problem {
  readonly reason: TaxFailureReason;

  /** @param message what the tenant may know of it */
  constructor(reason: TaxFailureReason, message: string, cause?: unknown) {
    const details = { reason: 'taxes_unavailable', failure: reason };
    super('service_unavailable', message, { details, retryAfterSeconds, cause });
    this.reason = reason;
  }
}
