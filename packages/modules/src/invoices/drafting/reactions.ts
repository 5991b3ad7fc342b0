import { reaction, type WorkContext } from '@counterfoil/engine/define';
import { existing, type Instant, type InvoiceId } from '@counterfoil/kernel';
import {
  isInherited,
  type Settled,
  type SettledSubscription,
  type Settlement,
  subscription,
} from '../../subscriptions/index.ts';
import { computed, isFreeFor } from '../computing.ts';
import {
  computeDraft,
  draftInvoice,
  draftWithFigures,
  draftWithoutTaxes,
  finalizeDue,
  type InvoiceDecision,
  isDue,
  noteTaxFailure,
} from '../decisions.ts';
import { type Invoice, invoice } from '../invoice.ts';
import { settledFor } from '../lines/parts.ts';
import { invoiceSequence, numberTaken, takeNumber } from '../sequence.ts';
import { TaxesUnavailable } from '../tax-calculation.ts';
import type { UsageReadings } from '../usage-readings.ts';
import { invoicedUnder, invoiceIdOf, isBilled, isOfPeriod } from './cause.ts';
import { draftOfSettled } from './draft.ts';

/**
 * Settlements of a subscription become invoices, each once: its id follows from the settlement, and a period that opens where another
 * one closes goes on the invoice of that. It is made final at once, unless it waits for usage that is on its way (D58). Credits
 * alone, and what is inherited, make none.
 */
export const settlementsDrafted = (usage: UsageReadings) =>
  reaction(subscription, {
    name: 'invoice of a settlement',
    on: {
      SettlementRecorded: async ({ aggregate_id, data, stamp }, context) => {
        if (!isBilled(data) || (await isShownAlready(context, aggregate_id, data))) return;
        const reading = await settledFor(context, aggregate_id, causedBy(data));
        const settled = settledBy(reading, data);
        if (isInherited(settled.state)) return;
        const under = invoicedUnder(settled.state, data);
        const id = invoiceIdOf(under, data);
        const drafting = { under, reading, settled, at: stamp.occurred_at };
        const outcome = await context.execute(invoice, id, {
          prepare: async () => {
            const isThere = (await context.load(invoice, id)) !== null;
            return isThere ? () => [] : drafted(context, id, drafting, usage);
          },
        });
        const draft = existing(outcome.state, 'invoice');
        if (!shows(draft, data)) await goOn(context, draft, usage);
      },
    },
  });

/** The part of the cause of an invoice that its settlement tells. */
export const causedBy = ({ settlement_id, at, ...settlement }: Settlement) => ({
  settlement_id,
  at,
  of_period: isOfPeriod(settlement),
});

/** Tells without a look at the past of the subscription that its own invoice has the charges, as most have that open a period. */
async function isShownAlready(
  context: WorkContext,
  id: string,
  settlement: Settlement,
): Promise<boolean> {
  const own = await context.load(invoice, invoiceIdOf(id, settlement));
  return own !== null && shows(own, settlement);
}

/** Tells whether an invoice has the charges of a settlement already: it was computed with them. */
const shows = ({ lines, invoice_status }: Invoice, settlement: Settlement): boolean =>
  invoice_status !== 'DRAFT' ||
  settlement.lines.every(
    (each) =>
      each.kind === 'credit' ||
      lines.some(
        ({ subscription_line_item_id: id, period_start }) =>
          id === each.line_item_id && period_start === each.span.start,
      ),
  );

/** The settlement with the subscription as it was then: whatever it is by now, the settlement goes where it went. */
export const settledBy = (
  { settled }: SettledSubscription,
  { settlement_id }: Settlement,
): Settled =>
  existing(
    settled.find(({ settlement }) => settlement.settlement_id === settlement_id) ?? null,
    'settlement',
  );

interface Drafting {
  /** The subscription whose invoice it is. */
  readonly under: string;
  /** The subscription that has settled, as it was read. */
  readonly reading: SettledSubscription;
  readonly settled: Settled;
  /** The instant at which it was recorded. */
  readonly at: Instant;
}

/** Drafts an invoice; one that waits with its figures as far as they are known. What is due gets them when it is made final. */
async function drafted(
  context: WorkContext,
  id: InvoiceId,
  { under, reading, settled, at }: Drafting,
  usage: UsageReadings,
): Promise<InvoiceDecision> {
  const root = existing(await context.load(subscription, under), 'subscription');
  const { state: sequence } = await context.execute(invoiceSequence, under, takeNumber(id));
  const billing_sequence = numberTaken(sequence, id);
  const draft = await draftOfSettled(context, id, { root, settled, at, billing_sequence });
  if (draft.finalizes_at !== null && draft.finalizes_at <= context.now) return draftInvoice(draft);
  const read = () => usage.atOnce(context);
  try {
    const figures = await computed(context, draft, read, isFreeFor(context, id), reading);
    return draftWithFigures(draft, { ...figures, plan: null });
  } catch (error) {
    if (!(error instanceof TaxesUnavailable)) throw error;
    return draftWithoutTaxes(draft, error, 'has_its_time');
  }
}

/** Makes a draft final whose time has come; gives one that waits the figures that it does not have. */
async function goOn(context: WorkContext, draft: Invoice, usage: UsageReadings): Promise<void> {
  const { id, cause } = draft;
  if (isDue(draft, context.now)) {
    await context.execute(invoice, id, finalizeDue(id));
    return;
  }
  if (cause.kind !== 'settlements') return;
  await context.execute(invoice, id, {
    prepare: async () => {
      const read = () => usage.atOnce(context);
      try {
        const figures = await computed(context, { ...draft, cause }, read, isFreeFor(context, id));
        return computeDraft({ ...figures, plan: null });
      } catch (error) {
        if (!(error instanceof TaxesUnavailable)) throw error;
        return noteTaxFailure(error);
      }
    },
  });
}
