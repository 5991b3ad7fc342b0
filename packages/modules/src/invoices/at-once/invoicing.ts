import type { RequestContext } from '@counterfoil/engine/define';
import { carryOutFrom, stateFollowing } from '../../following.ts';
import {
  type Invoicing,
  isInherited,
  type Recorded,
  type Settlement,
  type Subscription,
  subscription,
} from '../../subscriptions/index.ts';
import { isDue } from '../decisions.ts';
import { invoicedUnder, invoiceIdOf, isBilled } from '../drafting/cause.ts';
import { settlementsDrafted } from '../drafting/reactions.ts';
import { finalization, followsFinalization } from '../finalizing/finalization.ts';
import { firstPayments } from '../first-payment/reactions.ts';
import { type InvoiceState, invoice } from '../invoice.ts';
import { shownInvoice } from '../queries.ts';
import { invoiceSchema } from '../schema.ts';
import { usageOfTables } from '../usage-readings.ts';
import type { Collecting } from './collecting.ts';
import { foreseenDraft } from './foresee.ts';
import { latestInvoices } from './latest.ts';
import { assertPaidAtOnce } from './paid-at-once.ts';

/** The invoices of subscriptions, for what these answer (ADR 47). */
export const invoicingWith = (collecting: Collecting): Invoicing => ({
  schema: invoiceSchema,
  latest: latestInvoices,
  settle: (context, id, recorded) => settledAtOnce(context, id, recorded, collecting),
  foresee: async (context, id, events) => {
    const draft = await foreseenDraft(context, id, events);
    return draft && shownInvoice(context, draft);
  },
  assertPaidAtOnce: (context, id, events) => assertPaidAtOnce(context, id, events, collecting),
});

const drafting = settlementsDrafted(usageOfTables);

/**
 * Makes the invoice of the one settlement of a command at once, under the keys of the reactions that would make it. What waits for usage is
 * drafted here, and final a moment later. What fails is left to the reactions.
 */
async function settledAtOnce(
  context: RequestContext,
  id: string,
  recorded: Recorded,
  { collect, isCollected }: Collecting,
) {
  const only = onlySettlement(recorded);
  const sold = only && (await context.load(subscription, id));
  if (!only || !sold || isInherited(sold)) return null;
  const { settlement, event, revision } = only;
  await context.carryOut(drafting, id, {
    events: [event as never],
    revision,
    state: null,
    replayed: false,
  });
  const invoiceId = invoiceIdOf(invoicedUnder(sold, settlement), settlement);
  if (!settlement.lines.some(waitsForUsage)) await finish(context, invoiceId, sold, collect);
  const state = recorded.replayed
    ? await asItFollowed(context, invoiceId, isCollected)
    : await context.load(invoice, invoiceId);
  return state && shownInvoice(context, state);
}

/** The invoice as it followed from its settlement, for a request that is repeated: what others have done with it since has no part in it. */
async function asItFollowed(
  context: RequestContext,
  id: string,
  isCollected: Collecting['isCollected'],
): Promise<InvoiceState> {
  for await (const drafted of context.history(invoice, id, { maximum: 1 })) {
    const state = invoice.evolve(null, drafted);
    const outcome = { events: [drafted], state, revision: drafted.revision, replayed: true };
    return stateFollowing(
      context,
      invoice,
      id,
      outcome,
      (event, after) => {
        switch (event.type) {
          case 'InvoiceDrafted':
            // One that waits is made final by its time, and has its figures until then.
            return isDue(after, drafted.stamp.occurred_at)
              ? [['FinalizationStarted']]
              : [['InvoiceComputed', 'TaxesNotCalculated']];
          case 'InvoiceFinalized':
          case 'PaymentSettled':
            return [['PaymentSettled']];
          default:
            return followsFinalization(event, after);
        }
      },
      (event) => event.type !== 'PaymentSettled' || isCollected(id, event.data.payment_id),
    );
  }
  return null;
}

const waitsForUsage = ({ kind }: Settlement['lines'][number]): boolean =>
  kind === 'usage' || kind === 'commitment';

async function finish(
  context: RequestContext,
  invoiceId: string,
  { awaits }: Subscription,
  collect: Collecting['collect'],
): Promise<void> {
  const following = [finalization, firstPayments];
  await carryOutFrom(context, invoice, following, invoiceId, 0);
  if (awaits === null) return;
  await collect(context, invoiceId);
  await carryOutFrom(context, invoice, following, invoiceId, 0);
}

/** The one settlement that is billed among the events of a command, with its place; null for none, or for several. */
function onlySettlement({ events, revision }: Recorded) {
  const billed = events.flatMap((event, place) =>
    event.type === 'SettlementRecorded' && isBilled(event.data)
      ? [{ event, settlement: event.data, revision: revision - events.length + 1 + place }]
      : [],
  );
  return billed.length === 1 ? (billed[0] ?? null) : null;
}
