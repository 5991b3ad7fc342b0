import type { AskingContext } from '@counterfoil/engine/define';
import { existing, type Stamped } from '@counterfoil/kernel';
import {
  type Recorded,
  type Settlement,
  settledOf,
  subscription,
} from '../../subscriptions/index.ts';
import type { BroughtAssociation } from '../../taxes/index.ts';
import { computed, isFreeFor } from '../computing.ts';
import { invoicedUnder, invoiceIdOf, isBilled } from '../drafting/cause.ts';
import { draftOfSettled } from '../drafting/draft.ts';
import type { InvoiceEvent } from '../events.ts';
import { type Invoice, type InvoiceState, invoice } from '../invoice.ts';
import { afterwards } from '../preview/coming.ts';
import { type UsageReadings, usageOfTables } from '../usage-readings.ts';

type SubscriptionEvent = Recorded['events'][number];

/** The settlements of events for which there is an invoice. */
export const billedBy = (events: readonly SubscriptionEvent[]): readonly Settlement[] =>
  events.flatMap((event) =>
    event.type === 'SettlementRecorded' && isBilled(event.data) ? [event.data] : [],
  );

/**
 * The draft of the invoice that events of a subscription would lead to, which are not recorded, with its figures: by the same settlements and arithmetic
 * that will make it. Null where they bill nothing, or more than one invoice.
 */
export async function foreseenDraft(
  context: AskingContext,
  id: string,
  events: readonly SubscriptionEvent[],
  usage: UsageReadings = usageOfTables,
): Promise<Invoice | null> {
  const [settlement, ...more] = billedBy(events);
  if (!settlement || more.length > 0) return null;
  const stamp = stampOf(context);
  const coming = events.map((event) => ({ ...event, stamp }) as Stamped<SubscriptionEvent>);
  const after = afterwards(context, new Map([[id, coming]]));
  const isIt = ({ settlement_id }: Settlement) => settlement_id === settlement.settlement_id;
  const [found] = (await settledOf(after, id, isIt)).settled;
  const settled = existing(found ?? null, 'settlement');
  const under = invoicedUnder(settled.state, settlement);
  const root = existing(await after.load(subscription, under), 'subscription');
  const invoiceId = invoiceIdOf(under, settlement);
  const drafting = { root, settled, at: settlement.at, billing_sequence: null };
  const draft = await draftOfSettled(context, invoiceId, drafting);
  const asked = { ...draft, brought: broughtBy(events), purpose: 'preview' as const };
  const read = () => usage.atOnce(after);
  const figures = await computed(after, asked, read, isFreeFor(context, invoiceId));
  return foldedInvoice(context, [
    { type: 'InvoiceDrafted', data: draft },
    { type: 'InvoiceComputed', data: { ...figures, plan: null } },
  ]);
}

/** The tax rates that a new subscription brings: they are attached to it by a reaction. */
const broughtBy = ([first]: readonly SubscriptionEvent[]): readonly BroughtAssociation[] =>
  first?.type === 'SubscriptionCreated' ? first.data.tax_associations : [];

const stampOf = ({ principal, now }: Pick<AskingContext, 'principal' | 'now'>) => ({
  tenant_id: principal.tenantId,
  environment_id: principal.environmentId,
  occurred_at: now,
  actor: { user_id: null, key_id: null },
});

/** An invoice after events that are not recorded. */
export const foldedInvoice = (
  context: Pick<AskingContext, 'principal' | 'now'>,
  events: readonly InvoiceEvent[],
  before: InvoiceState = null,
): Invoice =>
  existing(
    events.reduce<InvoiceState>(
      (state, event) => invoice.evolve(state, { ...event, stamp: stampOf(context) }),
      before,
    ),
    'invoice',
  );
