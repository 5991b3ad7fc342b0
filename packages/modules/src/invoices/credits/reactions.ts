import { reaction, type WorkContext } from '@counterfoil/engine/define';
import { type InvoiceId, textOf } from '@counterfoil/kernel';
import { giveSubscriptionCredits, noteInvoiced, subscription } from '../../subscriptions/index.ts';
import { givenBack, netOf } from '../amounts.ts';
import type { InvoiceLine } from '../events.ts';
import { invoice } from '../invoice.ts';

/** Subscriptions are told what their charges came to, so that what they give back of them is net of discounts (D64). */
export const chargesNoted = reaction(invoice, {
  name: 'charges of an invoice',
  on: {
    InvoiceFinalized: async ({ aggregate_id, data }, context) => {
      const ofSubscriptions = Map.groupBy(data.lines.filter(isCharge), (line) => line.subscription_id);
      for (const [id, lines] of ofSubscriptions) await note(context, aggregate_id, id, lines);
    },
  },
});

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
  const decide = noteInvoiced(invoiceId, charges);
  const isKnown = decide(await context.load(subscription, id), context.now).length === 0;
  if (!isKnown) await context.execute(subscription, id, decide);
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

/** What the lines of a subscription's invoice come to less than nothing by goes to the customer's wallet, once. */
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
