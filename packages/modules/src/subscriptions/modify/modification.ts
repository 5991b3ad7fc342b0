import type { RequestContext } from '@counterfoil/engine/define';
import { type Instant, invariant } from '@counterfoil/kernel';
import { attachingAddon, removingAddon } from '../addons/requests.ts';
import { changingCoupon, redemptionOf } from '../coupons/requests.ts';
import { cancelSubscription, type SubscriptionDecision } from '../decisions.ts';
import { changeHeirs } from '../families/decisions.ts';
import { changeMembers, memberChange } from '../families/grouped.ts';
import { heirsOrder } from '../families/prepare.ts';
import { addingLine, changingQuantities, endingLine, updatingLine } from '../lines/requests.ts';
import { pausing } from '../pauses/routes.ts';
import { removePhase } from '../phases/decisions.ts';
import { addingPhase } from '../phases/requests.ts';
import type { CancelSubscription } from '../schema.ts';
import { changingTaxes, taxChange } from '../taxes/requests.ts';
import { moveTrialEnd } from '../trials/decisions.ts';
import { type Beside, type Modification, nothingBeside } from './beside.ts';
import type { ModifySubscription } from './schema.ts';

/** Params that go with the type of a modification: the schema has asked for them. */
function given<Params>(params: Params | null | undefined): Params {
  invariant(params, 'params go with their type');
  return params;
}

/** The part of a modification in other streams. Nothing is looked up yet, so that a repetition knows it too. */
export function besideOf(context: RequestContext, id: string, body: ModifySubscription): Beside {
  switch (body.type) {
    case 'coupon':
      return redemptionOf(context, id, given(body.coupon_params));
    case 'tax':
      return taxChange(context, id, given(body.tax_params));
    case 'grouped_invoicing':
      return memberChange(context, id, given(body.grouped_invoicing_params));
    default:
      return nothingBeside;
  }
}

/**
 * The command of a modification, after all that it refers to was found, with what belongs to it in other streams.
 *
 * @param at the instant of a quote, for everything that the request leaves open; null: that of the decision
 */
export async function modificationOf(
  context: RequestContext,
  id: string,
  body: ModifySubscription,
  at: Instant | null,
  beside: Beside,
): Promise<Modification> {
  if (body.type === 'add_phase') {
    return addingPhase(context, id, given(body.add_phase_params), '/add_phase_params');
  }
  return { decision: await decisionOf(context, id, body, at), beside };
}

async function decisionOf(
  context: RequestContext,
  id: string,
  body: ModifySubscription,
  at: Instant | null,
): Promise<SubscriptionDecision> {
  const type = body.type as Exclude<ModifySubscription['type'], 'add_phase'>;
  switch (type) {
    case 'quantity_change':
      return changingQuantities(context, id, given(body.quantity_change_params), at);
    case 'coupon':
      return changingCoupon(context, id, given(body.coupon_params), at);
    case 'tax':
      return changingTaxes(id);
    case 'grouped_invoicing':
      return changeMembers(id, given(body.grouped_invoicing_params));
    case 'add_line':
      return addingLine(context, id, given(body.add_line_params), at, '/add_line_params');
    case 'update_line': {
      const { id: lineId, ...update } = given(body.update_line_params);
      return updatingLine(context, id, lineId, update, at);
    }
    case 'remove_line': {
      const params = given(body.remove_line_params);
      return endingLine(id, params.id, params, at);
    }
    case 'addon': {
      const { action, add, remove } = given(body.addon_params);
      return action === 'add'
        ? attachingAddon(context, id, given(add), at, '/addon_params/add')
        : removingAddon(id, given(remove));
    }
    case 'add_addon':
      return attachingAddon(context, id, given(body.add_addon_params), at, '/add_addon_params');
    case 'remove_addon':
      return removingAddon(id, given(body.remove_addon_params));
    case 'remove_phase':
      return removePhase(id, given(body.remove_phase_params).id);
    case 'cancel':
      return cancelling(context, id, given(body.cancel_params), at);
    case 'pause':
      return pausing(context, id, given(body.pause_params), at);
    case 'trial_end': {
      const { action, new_trial_end: end } = given(body.trial_end_params);
      return moveTrialEnd(id, { end: action === 'immediate' ? null : given(end), quoted: at });
    }
    case 'inheritance':
      return changeHeirs(id, await heirsOrder(context, given(body.inheritance_params)));
    default:
      return type satisfies never;
  }
}

/** The command that cancels a subscription; an immediate one takes effect at the instant of its quote. */
const cancelling = (
  context: RequestContext,
  id: string,
  body: CancelSubscription,
  at: Instant | null,
): SubscriptionDecision =>
  cancelSubscription(id, {
    cancellation_type: body.cancellation_type,
    cancel_at: body.cancel_at ?? (body.cancellation_type === 'immediate' ? at : null),
    proration_behavior: body.proration_behavior ?? 'create_prorations',
    skips_arrears: body.cancel_immediately_inovice_policy === 'skip',
    reason: body.reason || null,
    schedule_id: context.newId('sched'),
  });
