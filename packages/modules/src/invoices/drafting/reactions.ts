import { reaction, type WorkContext } from '@counterfoil/engine/define';
import { existing, type Instant, type InvoiceId } from '@counterfoil/kernel';
import {
  isInherited,
  type Settled,
  type Settlement,
  settledOf,
  subscription,
} from '../../subscriptions/index.ts';
import { computed, isFreeFor } from '../computing.ts';
import { computeDraft, draftInvoice, finalizeDue, isDue } from '../decisions.ts';
import type { InvoiceEventData } from '../events.ts';
import { type Invoice, invoice } from '../invoice.ts';
import { invoiceSequence, numberTaken, takeNumber } from '../sequence.ts';
import type { UsageReadings } from '../usage-readings.ts';
import { invoicedUnder, invoiceIdOf, isBilled } from './cause.ts';
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
        if (!isBilled(data)) return;
        const settled = await settledBy(context, aggregate_id, data);
        if (isInherited(settled.state)) return;
        const under = invoicedUnder(settled.state, data);
        const id = invoiceIdOf(under, data);
        const drafting = { under, settled, at: stamp.occurred_at };
        const outcome = await context.execute(invoice, id, {
          prepare: async () => {
            const isThere = (await context.load(invoice, id)) !== null;
            return isThere ? () => [] : draftInvoice(await draftOf(context, id, drafting));
          },
        });
        const draft = existing(outcome.state, 'invoice');
        if (!shows(draft, data)) await goOn(context, draft, usage);
      },
    },
  });

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

interface Drafting {
  /** The subscription whose invoice it is. */
  readonly under: string;
  readonly settled: Settled;
  /** The instant at which it was recorded. */
  readonly at: Instant;
}

/** A settlement with the subscription as it was then: whatever it is by now, the settlement goes where it went. */
async function settledBy(
  context: WorkContext,
  id: string,
  { settlement_id }: Settlement,
): Promise<Settled> {
  const isIt = (each: Settlement) => each.settlement_id === settlement_id;
  const { settled } = await settledOf(context, id, isIt);
  return existing(settled[0] ?? null, 'settlement');
}

async function draftOf(
  context: WorkContext,
  id: InvoiceId,
  { under, settled, at }: Drafting,
): Promise<InvoiceEventData<'InvoiceDrafted'>> {
  const root = existing(await context.load(subscription, under), 'subscription');
  const { state: sequence } = await context.execute(invoiceSequence, under, takeNumber(id));
  const billing_sequence = numberTaken(sequence, id);
  return draftOfSettled(context, id, { root, settled, at, billing_sequence });
}

/** Makes a draft final whose time has come; gives one that waits its figures as far as they are known. */
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
      const figures = await computed(context, { ...draft, cause }, read, isFreeFor(context, id));
      return computeDraft({ ...figures, plan: null });
    },
  });
}
