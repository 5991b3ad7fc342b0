import type { AskingContext } from '@counterfoil/engine/define';
import { invalidOperation, notFound, Problem } from '@counterfoil/kernel';
import { countedEvents, countingOf } from '../../usage/index.ts';
import {
  type ComputedAgain,
  computedAgain,
  rulesOf,
  type UsageAt,
  type UsageThen,
  usageAt,
} from '../computing-again/again.ts';
import { type RecordedInvoice, recordedInvoice } from '../computing-again/recorded.ts';
import { type Invoice, invoice as invoiceAggregate } from '../invoice.ts';
import { explainedLine } from './line.ts';
import type { ExplainQuery, InvoiceExplanation } from './schema.ts';
import { couponsView, creditsView, sumsView, taxesView } from './shares.ts';
import { stretchOf } from './usage-of-line.ts';

/**
 * Explains an invoice: it is computed again from the positions that it names, and every figure is told with what it came from. Throws
 * 404, and 400 for one that has no figures yet.
 */
export async function explainedInvoice(
  context: AskingContext,
  id: string,
  query: ExplainQuery,
  at: UsageAt = usageAt,
): Promise<InvoiceExplanation> {
  const recorded = await existingFigures(context, id);
  const { again, dropped, isUsageKnown } = await againOrWithoutUsage(context, recorded, at);
  const { invoice, current, computed_position } = recorded;
  const lines = linesAsked(invoice, query);
  return {
    invoice_id: invoice.id,
    invoice_number: current.invoice_number ?? current.given_number,
    invoice_status: current.invoice_status,
    currency: invoice.currency,
    position: invoice.position,
    computed_position,
    rules: rulesOf(invoice),
    lines: lines.map((line) =>
      explainedLine(line, again.origins.get(line.id) ?? null, isUsageKnown),
    ),
    coupons: couponsView(invoice, { ...again.bill, lines: invoice.lines }),
    taxes: taxesView(invoice),
    tax_exemption: invoice.tax_exemption,
    credits: creditsView(invoice, again),
    sums: sumsView(invoice, current),
    differences: again.differences.map((difference) => ({ ...difference })),
    ...(dropped.length > 0 && { dropped_months: [...dropped] }),
    usage_explained: isUsageKnown,
    ...(query.line_item_id !== undefined &&
      dropped.length === 0 && {
        events: await eventsOf(context, { invoice, again, at }, query.line_item_id, query),
      }),
  };
}

async function existingFigures(context: AskingContext, id: string): Promise<RecordedInvoice> {
  const recorded = await recordedInvoice(context, id);
  if (recorded) return recorded;
  for await (const _ of context.history(invoiceAggregate, id, { maximum: 1 })) {
    throw invalidOperation(`Invoice ${id} has not been computed yet.`, { reason: 'not_computed' });
  }
  throw notFound('invoice', id);
}

function linesAsked({ id, lines }: Invoice, { line_item_id }: ExplainQuery): Invoice['lines'] {
  if (line_item_id === undefined) return lines;
  const asked = lines.filter((line) => line.id === line_item_id);
  if (asked.length === 0) throw notFound(`line of invoice ${id}`, line_item_id, 'line_item_id');
  return asked;
}

interface Again {
  readonly again: ComputedAgain;
  /** Months whose events are missing. */
  readonly dropped: readonly string[];
  /** False where the steps of usage cannot be told. */
  readonly isUsageKnown: boolean;
}

/** The invoice computed again; where events of its usage are dropped, or too many for a request, as if there were none. */
async function againOrWithoutUsage(
  context: AskingContext,
  recorded: RecordedInvoice,
  at: UsageAt,
): Promise<Again> {
  try {
    const again = await computedAgain(context, recorded, { usageAt: at });
    return { again, dropped: [], isUsageKnown: true };
  } catch (error) {
    const dropped = monthsDropped(error);
    if (dropped === null) throw error;
    const again = await computedAgain(context, recorded, { usageAt: () => noUsage });
    return { again: { ...again, differences: [] }, dropped, isUsageKnown: false };
  }
}

/** The months because of which usage cannot be counted, none where it is too much; null for another failure. */
function monthsDropped(error: unknown): readonly string[] | null {
  if (!(error instanceof Problem)) return null;
  const { reason, months } = error.details ?? {};
  if (reason === 'limit_reached') return [];
  return reason === 'no_longer_kept' && Array.isArray(months) ? months.map(String) : null;
}

const noUsage: UsageThen = { inStretches: async () => [], async *events() {} };

/** A page of the usage events that a line was counted from; none for a line of another kind. */
async function eventsOf(
  context: AskingContext,
  {
    invoice,
    again,
    at,
  }: { readonly invoice: Invoice; readonly again: ComputedAgain; readonly at: UsageAt },
  line_item_id: string,
  page: ExplainQuery,
): Promise<InvoiceExplanation['events']> {
  const line = invoice.lines.find(({ id }) => id === line_item_id);
  const origin = again.origins.get(line_item_id);
  const stretch = line && origin && stretchOf(line, origin.rated);
  if (!stretch || invoice.position === null) {
    return { line_item_id, events: [], has_more: false, iter_last_key: null };
  }
  const { counted, stretches } = stretch;
  const usage = at(invoice.position);
  const found = await countedEvents(
    context,
    usage,
    { eventName: counted.event_name, stretches, meter: countingOf(counted) },
    page,
  );
  return { line_item_id, ...found, events: [...found.events] };
}
