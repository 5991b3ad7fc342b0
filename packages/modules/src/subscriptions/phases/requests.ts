import type { RequestContext } from '@counterfoil/engine/define';
import { existing } from '@counterfoil/kernel';
import { offer } from '../../offers/index.ts';
import { foundById } from '../../record/index.ts';
import type { OrderedCoupon } from '../coupons/association.ts';
import { assertRedeemableAll, couponsNamed, redeemAll } from '../coupons/prepare.ts';
import { existingSubscription, type SubscriptionDecision } from '../decisions.ts';
import type { Beside } from '../modify/beside.ts';
import type { PhaseBody } from '../schema.ts';
import { subscription } from '../subscription.ts';
import { addPhase } from './decisions.ts';
import { orderedPhase } from './prepare.ts';
import { phaseTable } from './projection.ts';

/** The subscription that a phase is of. Throws 404. */
export async function subscriptionOfPhase(
  context: RequestContext,
  phaseId: string,
): Promise<string> {
  const { resource } = await foundById(context, phaseTable, 'phase', phaseId);
  return resource.subscription_id;
}

/** The command that lets a phase follow, after all that it refers to was found, and the redemption of its coupons. */
export async function addingPhase(
  context: RequestContext,
  id: string,
  body: PhaseBody,
  pointer = '',
): Promise<{ readonly decision: SubscriptionDecision; readonly beside: Beside }> {
  const current = existingSubscription(await context.load(subscription, id), id);
  const plan = existing(await context.load(offer, current.plan_id), 'plan');
  const { currency, end_date } = current;
  const host = {
    id: current.id,
    plan,
    currency,
    rhythm: current.cycle,
    commitments: null,
    overrides: [],
    granted: current.entitlements.map(({ stamps: _, ...granted }) => granted),
  };
  const place = { id: context.newId('phase'), is_first: false, pointer };
  const ordered = await orderedPhase(context, host, body, place);
  const { phase, lines } = ordered;
  const terms = { currency, start_date: phase.start_date, lines, phase: place };
  const until = { end_date: phase.end_date ?? end_date };
  const coupons = await couponsNamed(context, { ...terms, ...until }, body);
  const prices_of_plan = new Set(plan.prices.map((price) => price.id as string));
  return {
    decision: addPhase(id, { ordered, coupons, prices_of_plan }),
    beside: redemptionsOf(context, id, coupons),
  };
}

/** The redemption of coupons that a subscription gets with a phase. */
function redemptionsOf(
  context: RequestContext,
  id: string,
  named: readonly OrderedCoupon[],
): Beside {
  const redeeming = async () => {
    const { id: owner, coupons } = existingSubscription(await context.load(subscription, id), id);
    return [owner, named, coupons] as const;
  };
  return {
    check: async () => assertRedeemableAll(context, ...(await redeeming())),
    before: async () => redeemAll(context, ...(await redeeming())),
    changed: async () => ({}),
  };
}
