import { type AskingContext, askingMemory } from '@counterfoil/engine/define';
import {
  derivedId,
  existing,
  type Instant,
  invalidField,
  invalidOperation,
  notFound,
  type Period,
} from '@counterfoil/kernel';
import {
  currentPeriod,
  isInherited,
  nextStep,
  type Subscription,
  subscription,
} from '../../subscriptions/index.ts';
import { computed, isFreeFor } from '../computing.ts';
import { isBilled } from '../drafting/cause.ts';
import { draftOfSettled } from '../drafting/draft.ts';
import { causedBy, settledBy } from '../drafting/reactions.ts';
import type { InvoiceEvent } from '../events.ts';
import { type InvoiceState, invoice } from '../invoice.ts';
import { settledFor } from '../lines/parts.ts';
import type { InvoiceResource } from '../schema.ts';
import { type UsageReadings, usageOfTables } from '../usage-readings.ts';
import { invoiceView } from '../view.ts';
import { afterwards, comingEvents, type SubscriptionEvent, stateAfter } from './coming.ts';
import type { PreviewInvoice } from './schema.ts';

/**
 * The invoice that a subscription comes to at the end of its running period, or before if it ends before, as far as usage is counted by now and if nothing else
 * happens: by the same steps, settlements and arithmetic that will make it. Prepaid credits are known only when it is final.
 * Nothing is written. Throws 404, and 400 for one that nothing comes of, or for another period.
 *
 * It is a question, which decides nothing: records are those that this process knows, everything among them that the caller has written (ADR 60).
 */
export async function previewed(
  asking: AskingContext,
  { hide_zero_charges_line_items, ...asked }: PreviewInvoice,
  usage: UsageReadings = usageOfTables,
): Promise<InvoiceResource> {
  const context = askingMemory(asking);
  const own = await pastOf(context, asked.subscription_id);
  const root = payingSubscription(asked.subscription_id, stateAfter(own));
  const period = currentPeriod(root);
  assertRunning(asked, period);
  const at = period.end;
  const past = new Map([[root.id as string, own], ...(await pastOfMembers(context, root))]);
  const coming = new Map(
    [...past].map(([id, events]) => [id, comingEvents(existingAfter(events), at)]),
  );
  const after = afterwards(context, coming, past);
  const first = (coming.get(root.id) ?? []).flatMap((event) =>
    event.type === 'SettlementRecorded' && isBilled(event.data) ? [event.data] : [],
  )[0];
  if (!first) {
    throw invalidOperation(`Nothing is billed for ${root.id} by ${at}.`, { reason: 'ended' });
  }
  const reading = await settledFor(after, root.id, causedBy(first));
  const settled = settledBy(reading, first);
  const id = derivedId('inv', `${root.id}\npreview\n${at}`);
  const draft = await draftOfSettled(context, id, {
    root,
    settled,
    at: settled.settlement.at,
    billing_sequence: null,
  });
  const read = () => usage.atOnce(after);
  const figures = await computed(
    after,
    { ...draft, purpose: 'preview' },
    read,
    isFreeFor(context, id),
    reading,
  );
  const events: readonly InvoiceEvent[] = [
    { type: 'InvoiceDrafted', data: draft },
    { type: 'InvoiceComputed', data: { ...figures, plan: null } },
  ];
  const shown = invoiceView(folded(events, context, at));
  return hide_zero_charges_line_items ? withoutZeros(shown) : shown;
}

/** The events of a subscription by now; none where there is none, which the log says. */
async function pastOf(context: AskingContext, id: string): Promise<readonly SubscriptionEvent[]> {
  if ((await context.recalled.load(subscription, id)) === null) return [];
  const events: SubscriptionEvent[] = [];
  for await (const event of context.history(subscription, id)) events.push(event);
  return events;
}

const existingAfter = (events: readonly SubscriptionEvent[]): Subscription =>
  existing(stateAfter(events), 'subscription');

function payingSubscription(id: string, state: Subscription | null): Subscription {
  if (state === null) throw notFound('subscription', id, 'subscription_id');
  if (isInherited(state)) {
    throw invalidOperation(`${id} is inherited: the subscription that it follows is invoiced.`, {
      reason: 'inherited',
    });
  }
  if (nextStep(state) !== null) return state;
  throw invalidOperation(`Nothing happens to ${id} by itself any more, or not yet.`, {
    reason: 'ended',
  });
}

/** Only the running period has an invoice that is still to come. */
function assertRunning(
  { period_start, period_end }: Omit<PreviewInvoice, 'hide_zero_charges_line_items'>,
  { start, end }: Pick<Period, 'start' | 'end'>,
): void {
  const must = (name: string, given: Instant | null | undefined, is: Instant): void => {
    if (given && given !== is) {
      throw invalidField(`/${name}`, `is ${is} of the period that runs, the one that is shown`);
    }
  };
  must('period_start', period_start, start);
  must('period_end', period_end, end);
}

/** The events by now of those that are invoiced with a subscription. */
async function pastOfMembers(
  context: AskingContext,
  { family }: Subscription,
): Promise<readonly (readonly [string, readonly SubscriptionEvent[]])[]> {
  const all = await Promise.all(
    family.members.map(async (id) => [id, await pastOf(context, id)] as const),
  );
  return all.filter(([, events]) => events.length > 0);
}

const folded = (
  events: readonly InvoiceEvent[],
  { principal }: AskingContext,
  occurred_at: Instant,
): InvoiceState =>
  events.reduce<InvoiceState>(
    (state, event) =>
      invoice.evolve(state, {
        ...event,
        stamp: {
          tenant_id: principal.tenantId,
          environment_id: principal.environmentId,
          occurred_at,
          actor: { user_id: null, key_id: null },
        },
      }),
    null,
  );

const withoutZeros = (shown: InvoiceResource): InvoiceResource => ({
  ...shown,
  line_items: existing(shown.line_items ?? null, 'list of lines').filter(
    ({ amount }) => amount !== '0',
  ),
});
