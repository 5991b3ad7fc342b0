import type { RequestContext } from '@counterfoil/engine/define';
import { carryOutFrom } from '../../following.ts';
import {
  type Invoicing,
  isInherited,
  type Recorded,
  type Settlement,
  type Subscription,
  subscription,
} from '../../subscriptions/index.ts';
import { invoicedUnder, invoiceIdOf, isBilled } from '../drafting/cause.ts';
import { settlementsDrafted } from '../drafting/reactions.ts';
import { finalization } from '../finalizing/finalization.ts';
import { firstPayments } from '../first-payment/reactions.ts';
import { invoice } from '../invoice.ts';
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
  { collect }: Collecting,
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
  const state = await context.load(invoice, invoiceId);
  return state && shownInvoice(context, state);
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
