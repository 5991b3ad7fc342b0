import type { DecimalText, Instant, Span, SubscriptionLineId } from '@counterfoil/kernel';
import type { PriceTerms } from '../../pricing/index.ts';
import type { ChargedCommitment } from './commitments.ts';
import type { BillingPeriod, OwnCycle } from './own-cycle.ts';

/** A charge in advance for a stretch of time that still runs, or is still to come. */
export interface ChargedSpan {
  /** The line that was charged; after a change of its quantity or price, the one before. */
  readonly line_item_id: SubscriptionLineId;
  readonly span: Span;
  /** Money, greater than zero. */
  readonly amount: DecimalText;
  /** Money: part of it that was given back; of one that was invoiced before tax and after discounts, as `invoiced.net` is. */
  readonly credited: DecimalText;
  /** The charge as it stands on its invoice, once that is final. */
  readonly invoiced?: InvoicedCharge | undefined;
}

/** A charge as it came to stand on its invoice (D64). */
export interface InvoicedCharge {
  readonly invoice_id: string;
  /** Money: the amount less discounts. */
  readonly net: DecimalText;
  /** Money: the tax on that. */
  readonly tax: DecimalText;
  /** Money: part of `net` that credit notes have given back; absent: none. */
  readonly returned?: DecimalText | undefined;
}

/** A line of a subscription as far as it decides what is charged and credited. */
export interface ChargedLine {
  readonly line_item_id: SubscriptionLineId;
  /** Usage is billed in arrears, whatever `invoiced` says. */
  readonly charge: 'fixed' | 'usage';
  readonly invoiced: 'ADVANCE' | 'ARREAR';
  readonly period: BillingPeriod | 'ONETIME';
  /** Null: its periods are those of the subscription, or it is charged once. `ownCycle` makes it. */
  readonly own: OwnCycle | null;
  readonly terms: PriceTerms;
  readonly quantity: DecimalText;
  /** Since when it is charged for: not before the end of a trial. */
  readonly start: Instant;
  /** Exclusive: when it ends, or the subscription does if that is known and sooner. Null: neither is known. */
  readonly end: Instant | null;
  /** Empty for lines that are never credited, such as those of an add-on that is sold once. */
  readonly charged: readonly ChargedSpan[];
  /** The commitment of its usage, for a period or a term; null: none. */
  readonly commitment: ChargedCommitment | null;
}
