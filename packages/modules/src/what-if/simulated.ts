import type { RequestContext } from '@counterfoil/engine/define';
import {
  type Decimal,
  decimal,
  derivedId,
  existing,
  type Instant,
  type Span,
  type SubscriptionId,
  zero,
} from '@counterfoil/kernel';
import { afterwards, comingEvents, linesOfSettlement } from '../invoices/index.ts';
import {
  createSubscription,
  createSubscriptionSchema,
  prepareOrder,
  type RatingMoment,
  rateSettled,
  type SubscriptionState,
  settledOf,
  subscription,
} from '../subscriptions/index.ts';
import type { WhatIf } from './schema.ts';

type SubscriptionEvent = Parameters<typeof subscription.evolve>[1];

/** A line that a plan would have charged, in one of its periods. */
export interface SimulatedLine {
  readonly display_name: string;
  readonly is_usage: boolean;
  readonly quantity: Decimal;
  readonly amount: Decimal;
}

/** The plan and the time under which the history of a customer is priced. */
export interface Simulation extends Pick<WhatIf, 'currency' | 'billing_period'> {
  readonly plan_id: string;
  readonly span: Span;
}

/**
 * The lines that a plan would have charged a customer in a span, for the usage that there was: a subscription lives through it that is
 * recorded nowhere, from its creation to its end, by the steps, settlements and rating of every other one. Its prices are those in force at the beginning,
 * else the first to come, and hold all the time. Throws 404, and 400 for a plan that does not fit.
 */
export async function simulatedLines(
  context: RequestContext,
  customer_id: string,
  simulation: Simulation,
  moment: RatingMoment,
): Promise<readonly SimulatedLine[]> {
  const id = derivedId('subs', `what if ${customer_id}`) as SubscriptionId;
  const events = await eventsOf(context, id, customer_id, simulation);
  const world = afterwards(context, new Map([[id as string, events]]));
  const { settled } = await settledOf(world, id, () => true);
  const lines: SimulatedLine[] = [];
  for (const each of settled) {
    const rated = await rateSettled(world, each, moment);
    const { settlement, lines: sold } = each;
    for (const line of linesOfSettlement({ settlement, lines: sold, subscription_id: id, rated })) {
      lines.push({
        display_name: line.display_name,
        is_usage: line.price_type === 'USAGE',
        quantity: decimal(line.quantity),
        amount: decimal(line.amount),
      });
    }
  }
  return lines;
}

/** The whole life of the subscription, in memory. */
async function eventsOf(
  context: RequestContext,
  id: SubscriptionId,
  customer_id: string,
  { plan_id, span, currency, billing_period }: Simulation,
): Promise<readonly SubscriptionEvent[]> {
  const body = createSubscriptionSchema.parse({
    ...{ plan_id, customer_id, currency, billing_period },
    ...{ start_date: span.start, end_date: span.end, proration_behavior: 'create_prorations' },
    trial_period_days: 0,
  });
  const order = await prepareOrder(context, id, body);
  const lines = order.lines.map((line) => ({ ...line, from: null, end_date: null }));
  const stamp = stampAt(context, span.start);
  const begun = createSubscription({ ...order, lines, grants: [], addons: [] })(
    null,
    span.start,
  ).map((event) => ({ ...event, stamp }) as unknown as SubscriptionEvent);
  const state = begun.reduce<SubscriptionState>(subscription.evolve, null);
  return [...begun, ...comingEvents(existing(state, 'subscription'), span.end)];
}

const stampAt = (
  { principal }: Pick<RequestContext, 'principal'>,
  occurred_at: Instant,
): SubscriptionEvent['stamp'] => ({
  tenant_id: principal.tenantId,
  environment_id: principal.environmentId,
  occurred_at,
  actor: { user_id: null, key_id: null },
});

/** The sum of the amounts of some lines. */
export const sumOf = (lines: readonly SimulatedLine[]): Decimal =>
  lines.reduce((sum, { amount }) => sum.plus(amount), zero);
