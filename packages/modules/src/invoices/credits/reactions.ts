import { reaction, type WorkContext } from '@counterfoil/engine/define';
import { decimal, type InvoiceId, textOf } from '@counterfoil/kernel';
import {
  giveSubscriptionCredits,
  noteInvoiced,
  noteReturned,
  subscription,
} from '../../subscriptions/index.ts';
import { givenBack, netOf } from '../amounts.ts';
import type { InvoiceEventData, InvoiceLine } from '../events.ts';
import { invoice } from '../invoice.ts';

/**
 * Subscriptions are told what their charges came to, and what credit notes have given back of them, so that what they give back
 * themselves is net of both (D64).
 */
export const chargesNoted = reaction(invoice, {
  name: 'charges of an invoice',
  on: {
    InvoiceFinalized: async ({ aggregate_id, data }, context) => {
      const ofSubscriptions = Map.groupBy(
        data.lines.filter(isCharge),
        (line) => line.subscription_id,
      );
      for (const [id, lines] of ofSubscriptions) await note(context, aggregate_id, id, lines);
    },
    InvoiceAdjusted: ({ aggregate_id, data }, context) => noteBack(context, aggregate_id, data, 1),
    InvoiceRefunded: ({ aggregate_id, data }, context) => noteBack(context, aggregate_id, data, 1),
    InvoiceVoided: async ({ aggregate_id }, context) => {
      const state = await context.load(invoice, aggregate_id);
      const lines = state?.lines.map((line) => ({ line_id: line.id, amount: textOf(netOf(line)) }));
      const all = { credit_note_id: null, lines: lines ?? [] };
      await noteBack(context, aggregate_id, all, 1);
    },
    AdjustmentReversed: async ({ aggregate_id, data }, context) => {
      for await (const event of context.history(invoice, aggregate_id)) {
        if (event.type !== 'InvoiceAdjusted') continue;
        if (event.data.credit_note_id !== data.credit_note_id) continue;
        await noteBack(context, aggregate_id, event.data, -1);
        return;
      }
    },
  },
});

/** The parts of lines that go back, by a credit note, or because the invoice is void (null). */
interface Note {
  readonly credit_note_id: string | null;
  readonly lines: readonly Pick<
    InvoiceEventData<'InvoiceAdjusted'>['lines'][number],
    'line_id' | 'amount'
  >[];
}

/** The notes by which settlements lower what is owed have their ids (`lowerDebts`). */
const settlementPrefix = 'settlement_';

/** Tells subscriptions what a credit note gives back, or with the other sign that it does no more. */
async function noteBack(
  context: WorkContext,
  invoiceId: string,
  { credit_note_id, lines }: Note,
  sign: 1 | -1,
): Promise<void> {
  // What a settlement has lowered is credited there already.
  if (credit_note_id?.startsWith(settlementPrefix)) return;
  const state = await context.load(invoice, invoiceId);
  const back = lines.flatMap(({ line_id, amount }) => {
    const line = state?.lines.find(({ id }) => id === line_id);
    if (!line || !isCharge(line)) return [];
    const signed = textOf(decimal(amount).times(decimal(String(sign))));
    return [
      {
        of: line.subscription_id,
        charge: { line_item_id: line.subscription_line_item_id, amount: signed },
      },
    ];
  });
  for (const [id, parts] of Map.groupBy(back, ({ of }) => of)) {
    const charges = parts.map(({ charge }) => charge);
    await tell(context, id, noteReturned(invoiceId, credit_note_id, charges));
  }
}

/** Runs a decision on a subscription, unless it would do nothing: that need not be remembered. */
async function tell(
  context: WorkContext,
  id: string,
  decide: ReturnType<typeof noteReturned>,
): Promise<void> {
  const isKnown = decide(await context.load(subscription, id), context.now).length === 0;
  if (!isKnown) await context.execute(subscription, id, decide);
}

async function note(
  context: WorkContext,
  invoiceId: string,
  id: string,
  lines: readonly Charge[],
): Promise<void> {
  const charges = lines.map((line) => ({
    line_item_id: line.subscription_line_item_id,
    span: { start: line.period_start, end: line.period_end },
    amount: line.amount,
    net: textOf(netOf(line)),
    tax: line.tax,
  }));
  await tell(context, id, noteInvoiced(invoiceId, charges));
}

interface Charge extends InvoiceLine {
  readonly subscription_id: string;
  readonly subscription_line_item_id: string;
  readonly period_start: NonNullable<InvoiceLine['period_start']>;
  readonly period_end: NonNullable<InvoiceLine['period_end']>;
}

const isCharge = (line: InvoiceLine): line is Charge =>
  line.kind === 'fixed' &&
  line.subscription_id !== null &&
  line.subscription_line_item_id !== null &&
  line.period_start !== null &&
  line.period_end !== null;

/** Money by which the lines of a subscription's invoice come to less than nothing goes to the customer's wallet, once. */
export const leftOverGiven = reaction(invoice, {
  name: 'left over of an invoice',
  on: {
    InvoiceFinalized: async ({ aggregate_id, data }, context) => {
      const amount = givenBack(data);
      if (amount === '0') return;
      const state = await context.load(invoice, aggregate_id as InvoiceId);
      if (state === null || state.subscription_id === null) return;
      await giveSubscriptionCredits(context, state.subscription_id, {
        worth: { kind: 'money', amount },
        conversion_rate: null,
        topup_conversion_rate: null,
        referenceType: 'INVOICE',
        referenceId: aggregate_id,
        description: null,
        idempotencyKey: `${aggregate_id} left over`,
        metadata: { invoice_id: aggregate_id, subscription_id: state.subscription_id },
        priority: null,
        expiresAt: null,
      });
    },
  },
});
