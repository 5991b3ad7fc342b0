import { derivedId, type Instant, type InvoiceId, type Period } from '@counterfoil/kernel';
import {
  type Settled,
  type Settlement,
  type Subscription,
  waitsForPayment,
} from '../../subscriptions/index.ts';
import type { InvoiceCause } from '../events.ts';
import type { BillingReason, InvoiceType } from '../values.ts';

export type SettlementsCause = Extract<InvoiceCause, { kind: 'settlements' }>;

/** Tells whether a settlement is of the end or the beginning of a period, which go on one invoice where they meet. */
export const isOfPeriod = ({ reason }: Pick<Settlement, 'reason'>): boolean =>
  reason === 'period_closed' || reason === 'period_opened';

/** Tells whether there is anything for an invoice: credits alone go to the customer's wallet. */
export const isBilled = ({ lines }: Pick<Settlement, 'lines'>): boolean =>
  lines.some(({ kind }) => kind !== 'credit');

/** Everything of a subscription that decides whose invoice its settlements go on. It stays as it is. */
type InvoicedSubscription = Pick<Subscription, 'id' | 'family' | 'cycle' | 'payment_behavior'>;

/**
 * Lines that a subscription settles at once and has on the invoice of its parent at most; with more it has an invoice of its own. So an invoice is never larger than
 * an event may be, however many are invoiced together.
 */
export const groupedLinesMaximum = 20;

/**
 * The subscription whose invoice a settlement goes on: its own, but for periods of one that is invoiced with others, which go on
 * that of their parent (E 10.9) where they have few lines. It follows from what was settled, so that whoever asks comes to the same.
 */
export const invoicedUnder = (
  { id, family, cycle, payment_behavior }: InvoicedSubscription,
  settlement: Pick<Settlement, 'reason' | 'period_index' | 'lines'>,
): string => {
  const isGrouped = family.parent?.relation === 'grouped_invoicing';
  // Its first period begins with an invoice of its own: it may begin at any time. So does the first that is paid for before it is active.
  const first = waitsForPayment(payment_behavior) ? cycle.first_index : 0;
  const isFirst = settlement.reason === 'period_opened' && settlement.period_index === first;
  const isLarge = settlement.lines.length > groupedLinesMaximum;
  return isGrouped && isOfPeriod(settlement) && !isFirst && !isLarge
    ? (family.parent?.subscription_id ?? id)
    : id;
};

/** The id of the invoice of the periods that close and open at an instant. */
export const periodInvoiceId = (under: string, at: Instant): InvoiceId =>
  derivedId('inv', `${under}\nperiod\n${at}`);

/** The id of the invoice that a settlement goes on: it follows from that, so that there is one. */
export const invoiceIdOf = (
  under: string,
  { settlement_id, at, ...settlement }: Pick<Settlement, 'settlement_id' | 'at' | 'reason'>,
): InvoiceId =>
  isOfPeriod(settlement)
    ? periodInvoiceId(under, at)
    : derivedId('inv', `${under}\n${settlement_id}`);

/** Tells whether a settlement goes on the invoice of a cause. */
export const belongsTo = (
  { settlement_id, at, of_period }: Pick<SettlementsCause, 'settlement_id' | 'at' | 'of_period'>,
  settlement: Pick<Settlement, 'settlement_id' | 'at' | 'reason'>,
): boolean =>
  settlement.settlement_id === settlement_id ||
  (of_period && settlement.at === at && isOfPeriod(settlement));

/** The reason for which something is billed, its type, and whether it waits for usage that is on its way. */
export interface Occasion {
  readonly billing_reason: BillingReason;
  readonly invoice_type: InvoiceType;
  readonly waits: boolean;
  /** The time that it is about. */
  readonly period: Pick<Period, 'start' | 'end'>;
}

/** The occasion of an invoice (D58). */
export function occasionOf({ settlement, state, closed }: Settled): Occasion {
  switch (settlement.reason) {
    case 'period_opened':
    case 'period_closed':
      return ofPeriod(settlement, state, closed);
    case 'cancelled':
      return {
        billing_reason: 'PRORATION',
        invoice_type: 'SUBSCRIPTION',
        waits: false,
        period: { start: startOf(settlement), end: settlement.at },
      };
    case 'plan_changed':
      return {
        billing_reason: 'SUBSCRIPTION_UPDATE',
        invoice_type: 'SUBSCRIPTION',
        waits: false,
        period: spanOf(settlement),
      };
    case 'threshold_reached':
      return {
        billing_reason: 'AUTO_INVOICE_THRESHOLD',
        invoice_type: 'SUBSCRIPTION',
        waits: false,
        period: { start: startOf(settlement), end: settlement.at },
      };
    case 'line_added':
    case 'line_removed':
    case 'line_changed':
    case 'quantity_changed':
    case 'addon_added':
    case 'addon_removed':
    case 'phase_added':
    case 'phase_removed':
    case 'pause_ended':
    case 'plan_synced':
      return {
        billing_reason: 'SUBSCRIPTION_UPDATE',
        invoice_type: 'ONE_OFF',
        waits: false,
        period: spanOf(settlement),
      };
    default:
      return settlement.reason satisfies never;
  }
}

/**
 * A first period begins the subscription, one that a trial leads to ends that; every other one closes one, or follows on a pause
 * between two.
 */
function ofPeriod(
  settlement: Settlement,
  { trial, opened }: Subscription,
  closed: Period | null,
): Occasion {
  const invoice_type = 'SUBSCRIPTION';
  const running = opened ? { start: opened.start, end: opened.end } : spanOf(settlement);
  // A trial is the first of all periods.
  const isOfTrial = trial !== null && closed?.index === 0;
  if (closed !== null && !isOfTrial) {
    const period = { start: closed.start, end: closed.end };
    return { billing_reason: 'SUBSCRIPTION_CYCLE', invoice_type, waits: true, period };
  }
  const isFirst = settlement.period_index === 0;
  const billing_reason = isOfTrial
    ? 'SUBSCRIPTION_TRIAL_END'
    : isFirst
      ? 'SUBSCRIPTION_CREATE'
      : 'SUBSCRIPTION_CYCLE';
  return { billing_reason, invoice_type, waits: false, period: running };
}

/** The time that the lines of a settlement are about. */
const spanOf = (settlement: Settlement): Pick<Period, 'start' | 'end'> => ({
  start: startOf(settlement),
  end: settlement.lines.reduce(
    (last, { span }) => (span.end > last ? span.end : last),
    settlement.at,
  ),
});

const startOf = ({ lines, at }: Settlement) =>
  lines
    .filter(({ kind }) => kind !== 'credit')
    .reduce((first, { span }) => (span.start < first ? span.start : first), at);
