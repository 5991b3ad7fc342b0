import type { WorkContext } from '@counterfoil/engine/define';
import { type Instant, type InvoiceId, shiftedBy } from '@counterfoil/kernel';
import { settingOf } from '../../settings/index.ts';
import { payerOf, type Settled, type Subscription } from '../../subscriptions/index.ts';
import type { InvoiceEventData } from '../events.ts';
import { isOfPeriod, occasionOf, type SettlementsCause } from './cause.ts';

/** A settlement whose invoice is drafted. */
interface SettledDraft {
  /** The subscription whose invoice it is. */
  readonly root: Subscription;
  readonly settled: Settled;
  /** The instant at which it was recorded. */
  readonly at: Instant;
  readonly billing_sequence: number | null;
}

/** The draft of the invoice of a settlement. */
export async function draftOfSettled(
  context: Pick<WorkContext, 'load'>,
  id: InvoiceId,
  { root, settled, at, billing_sequence }: SettledDraft,
): Promise<InvoiceEventData<'InvoiceDrafted'> & { readonly cause: SettlementsCause }> {
  const { settlement: data } = settled;
  const { due_date_days, finalization_delay_seconds } = await settingOf(context, 'invoice_config');
  const { billing_reason, invoice_type, waits, period } = occasionOf(settled);
  const payer = payerOf(root);
  return {
    id,
    invoice_type,
    billing_reason,
    cause: {
      kind: 'settlements',
      subscription_id: root.id,
      settlement_id: data.settlement_id,
      at: data.at,
      of_period: isOfPeriod(data),
    },
    customer_id: payer,
    subscription_customer_id: payer === root.customer_id ? null : root.customer_id,
    subscription_id: root.id,
    currency: root.currency,
    period_start: period.start,
    period_end: period.end,
    billing_period: root.cycle.unit,
    billing_sequence,
    given_number: null,
    due_days: daysOfTerms(root) ?? due_date_days,
    due_date: null,
    description: null,
    invoice_pdf_url: null,
    metadata: {},
    finalizes_at: waits ? shiftedBy(data.at, finalization_delay_seconds * 1000) : at,
    collection_method: root.collection_method,
    idempotency_key: null,
  };
}

/** The days of the payment terms, such as 30 of `30 NET`; null where there are none. */
export const daysOfTerms = (owner: Pick<Subscription, 'payment_terms'> | null): number | null =>
  owner?.payment_terms ? Number.parseInt(owner.payment_terms, 10) : null;
