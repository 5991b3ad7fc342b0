import type { RequestContext } from '@counterfoil/engine/define';
import type { Instant } from '@counterfoil/kernel';
import { offer } from '../../offers/index.ts';
import { prepareOrder } from '../creation/prepare.ts';
import { existingSubscription } from '../decisions.ts';
import type { CreateSubscription } from '../schema.ts';
import { subscription } from '../subscription.ts';
import { taxesTakenAlong } from '../taxes/taken-along.ts';
import type { PlanChangeOrder } from './decisions.ts';
import type { ChangePlan } from './schema.ts';

/** A change of plan, after everything that the request refers to was found in the log. */
export async function preparePlanChange(
  context: RequestContext,
  id: string,
  body: ChangePlan,
  quoted: Instant | null,
): Promise<PlanChangeOrder> {
  const current = existingSubscription(await context.load(subscription, id), id);
  const plan = await context.load(offer, current.plan_id);
  const proration = body.proration_behavior ?? 'create_prorations';
  const asked: CreateSubscription = {
    customer_id: current.customer_id,
    plan_id: body.target_plan_id,
    currency: current.currency,
    billing_period: body.billing_period ?? current.cycle.unit,
    billing_period_count: body.billing_period_count ?? countOf(body, current.cycle),
    billing_cycle: body.billing_cycle ?? current.billing_cycle,
    start_date: quoted ?? context.now,
    end_date: current.end_date,
    timezone: current.timezone,
    proration_behavior: proration,
    collection_method: current.collection_method,
    // The condition of a first payment holds once: what was paid for, or is, goes on.
    payment_behavior:
      current.subscription_status === 'trialing' ? current.payment_behavior : 'default_active',
    auto_invoice_threshold: current.auto_invoice_threshold,
    payment_terms: current.payment_terms,
    gateway_payment_method_id: current.gateway_payment_method_id,
    lookup_key: current.lookup_key,
    metadata: { ...current.metadata, ...body.metadata },
    // A change ends a trial, and the next plan begins without one.
    subscription_status: 'active',
  };
  const order = await prepareOrder(context, context.newId('subs'), asked);
  return {
    order: { ...order, tax_associations: [...(await taxesTakenAlong(context, current))] },
    prices_of_plan: new Set(plan?.prices.map((price) => price.id)),
    proration,
    change_at: (body.change_at ?? 'immediate') === 'immediate' ? 'immediate' : 'end_of_period',
    schedule_id: context.newId('sched'),
    quoted,
  };
}

/** The count goes with its unit: another unit is counted one by one. */
const countOf = (
  { billing_period }: ChangePlan,
  { unit, count }: { readonly unit: string; readonly count: number },
): number =>
  billing_period === null || billing_period === undefined || billing_period === unit ? count : 1;
