import { dueWork, type WorkContext } from '@counterfoil/engine/define';
import { Problem } from '@counterfoil/kernel';
import { settingOf } from '../../settings/index.ts';
import { cancelSubscription, subscription } from '../../subscriptions/index.ts';
import { awaitedBy, voidUnpaidOpening } from '../first-payment/settle.ts';
import { invoice } from '../invoice.ts';
import { invoiceTable } from '../projection.ts';
import { fallOverdue, noteSubscriptionEnded } from './decisions.ts';
import { endsSubscriptionAt } from './falls-overdue.ts';

/** Tells of invoices whose due date has come and which are not paid. */
export const overdueInvoices = dueWork({
  name: 'overdue invoices',
  table: invoiceTable,
  column: 'falls_overdue_at',
  run: async (context, id) =>
    context.execute(invoice, id, {
      prepare: async () => {
        const config = await settingOf(context, 'subscription_config');
        const state = await context.load(invoice, id);
        const awaiting = state && (await awaitedBy(context, state));
        return fallOverdue(config, awaiting?.subscription_status === 'incomplete');
      },
    }),
});

/**
 * Ends the subscriptions of invoices that nobody has paid in time, where that was set when they fell overdue (E 10.11). The opening invoice
 * of one that waits for its first payment becomes void, which ends it (ADR 47).
 */
export const unpaidSubscriptions = dueWork({
  name: 'subscriptions that are not paid for',
  table: invoiceTable,
  column: 'ends_subscription_at',
  run: async (context, id) => {
    const state = await context.load(invoice, id);
    const end = endsSubscriptionAt(state);
    if (end === null || end > context.now || !state?.subscription_id) return;
    if (await awaitedBy(context, state)) {
      await context.execute(invoice, id, voidUnpaidOpening(id));
      return;
    }
    await endUnpaid(context, state.subscription_id);
    await context.execute(invoice, id, noteSubscriptionEnded());
  },
});

/** Ends a subscription now: what was used is billed, and nothing comes back for what was never paid. One that has ended stays so. */
async function endUnpaid(context: WorkContext, id: string): Promise<void> {
  const cancellation = {
    cancellation_type: 'immediate',
    cancel_at: null,
    proration_behavior: 'none',
    skips_arrears: false,
    reason: 'An invoice was not paid in time',
    schedule_id: context.newId('sched'),
  } as const;
  try {
    await context.execute(subscription, id, cancelSubscription(id, cancellation));
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'invalid_operation') throw error;
  }
}
