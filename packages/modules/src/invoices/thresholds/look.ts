import type { FactWork, WorkContext } from '@counterfoil/engine/define';
import { decimal } from '@counterfoil/kernel';
import { reachThreshold, subscription } from '../../subscriptions/index.ts';
import { usageTables, watchedUsage } from '../../usage/index.ts';
import { foreseenDraft } from '../at-once/foresee.ts';
import { type UsageReadings, usageOfTables } from '../usage-readings.ts';

/**
 * Looks whether the usage of the running period that no invoice has billed yet has come to the amount from which on it is invoiced: before
 * discounts and taxes, and after what is free. Then the subscription settles it, once (E 10.10 B). Throws 503 while the invoice before it is not final.
 */
export async function lookAtThreshold(
  context: WorkContext,
  id: string,
  usage: UsageReadings = usageOfTables,
): Promise<void> {
  const sold = await context.load(subscription, id);
  if (sold === null || sold.auto_invoice_threshold === null || sold.opened === null) return;
  const reach = reachThreshold({
    period_index: sold.opened.index,
    number: sold.threshold_count,
    until: context.now,
  });
  const draft = await foreseenDraft(context, id, reach(sold, context.now), usage);
  // What closes the period bills all of it.
  if (draft === null || draft.billing_reason !== 'AUTO_INVOICE_THRESHOLD') return;
  if (decimal(draft.subtotal).cmp(decimal(sold.auto_invoice_threshold)) < 0) return;
  await context.execute(subscription, id, reach);
}

/** A look when usage has come: many events make one. */
export const thresholdLooks: FactWork = {
  name: 'invoice by amount',
  tables: usageTables,
  marks: watchedUsage,
  run: (context, id) => lookAtThreshold(context, id),
};
