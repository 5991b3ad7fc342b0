import { type ReactionContext, reaction, where } from '@counterfoil/engine/define';
import { invariant, Problem, type SubscriptionId } from '@counterfoil/kernel';
import { meter } from '../../meters/index.ts';
import { type Offer, offer } from '../../offers/index.ts';
import { subscriptionTable } from '../projection.ts';
import { subscription } from '../subscription.ts';
import { advanceSync } from './decisions.ts';
import { type PlanSync, planSync, type SyncFailure } from './plan-sync.ts';
import { type PlanPrices, syncLines } from './sync-lines.ts';

/** Subscriptions that are looked at for one event. */
const portion = 100;

/** Brings the subscriptions of a plan to its prices, some for each event, until none is left. */
export const planSyncCarriedOut = reaction(planSync, {
  name: 'synchronisation of a plan',
  on: {
    PlanSyncRequested: ({ aggregate_id, data }, context) =>
      goOn(context, aggregate_id, { id: data.id, last: null }),
    PlanSyncAdvanced: ({ aggregate_id, data }, context) => goOn(context, aggregate_id, data),
  },
});

/** Goes on from an event, unless that was done: each portion belongs to one event, whose key its commands have. */
async function goOn(
  context: ReactionContext,
  planId: string,
  from: Pick<PlanSync, 'id' | 'last'>,
): Promise<void> {
  const sync = await context.load(planSync, planId);
  if (sync?.state !== 'running' || sync.id !== from.id || sync.last !== from.last) return;
  const plan = await context.load(offer, planId);
  invariant(plan, `${sync.id}: there is no plan ${planId}`);
  const ids = await subscriptionsAfter(context, sync);
  const { id: syncId, at } = sync;
  const sold = { id: syncId, at, plan, meterNames: await meterNames(context, plan) };
  let changed = 0;
  const failed: SyncFailure[] = [];
  for (const id of ids) {
    const outcome = await synchronised(context, id, sold);
    if (typeof outcome === 'string') failed.push({ subscription_id: id, message: outcome });
    else if (outcome) changed += 1;
  }
  const last = ids.at(-1) ?? null;
  const done = { last, checked: ids.length, changed, failed, is_last: ids.length < portion };
  await context.execute(planSync, planId, advanceSync(sync, done));
}

/** The next subscriptions of the plan in the order of their ids; those that are cancelled are over. */
async function subscriptionsAfter(
  { read }: ReactionContext,
  { plan_id, last }: PlanSync,
): Promise<readonly SubscriptionId[]> {
  const page = { limit: portion, offset: 0, sort: [{ column: 'id', order: 'asc' }] } as const;
  const { items } = await read.list(subscriptionTable, page, [
    ...where('plan_id', 'eq', plan_id),
    ...where('subscription_status', 'not_in', ['cancelled', 'draft']),
    // It has no lines: those are its parent's.
    ...where('subscription_type', 'not_in', ['inherited']),
    ...where('id', 'gt', last),
  ]);
  return items.map(({ id }) => id as SubscriptionId);
}

/** Brings one subscription to the prices of its plan. Returns whether anything changed, or why it is left as it is. */
async function synchronised(
  context: ReactionContext,
  id: SubscriptionId,
  sold: PlanPrices,
): Promise<boolean | string> {
  try {
    const { events } = await context.execute(subscription, id, syncLines(id, sold));
    return events.some(({ type }) => type === 'LinesChanged');
  } catch (error) {
    // What may go away by itself is tried again, with the event.
    if (!(error instanceof Problem) || error.status >= 500) throw error;
    return error.message;
  }
}

/** The names of the meters of a plan's prices, by id. */
async function meterNames(
  context: ReactionContext,
  { prices }: Offer,
): Promise<ReadonlyMap<string, string>> {
  const ids = new Set(prices.flatMap(({ meter_id }) => meter_id ?? []));
  const named = [...ids].map(async (id) => [id, (await context.load(meter, id))?.name] as const);
  const found = await Promise.all(named);
  return new Map(found.flatMap(([id, name]) => (name === undefined ? [] : [[id, name]])));
}
