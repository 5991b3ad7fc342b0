import type { RequestContext } from '@counterfoil/engine/define';
import { invalidField, invalidOperation, type SubscriptionId } from '@counterfoil/kernel';
import { acting, existingSubscription, type SubscriptionDecision } from '../decisions.ts';
import type { Beside } from '../modify/beside.ts';
import { type Subscription, subscription } from '../subscription.ts';
import { assertFew, changeParent } from './decisions.ts';
import { heirsOf } from './family.ts';
import { subscriptionNamed } from './prepare.ts';
import { families } from './reactions.ts';
import type { GroupedInvoicingParams } from './schema.ts';

const pointer = '/grouped_invoicing_params';

/** The subscriptions that are to come to a group or to leave it, without those that have done so. */
const changing = (
  { family }: Subscription,
  { action, child_subscription_ids: ids }: GroupedInvoicingParams,
): readonly SubscriptionId[] =>
  [...new Set(ids as SubscriptionId[])].filter(
    (each) => family.members.includes(each) !== (action === 'add'),
  );

/** Lets others be invoiced with a subscription, or no more. What comes of that is said by them: nothing is recorded here. */
export const changeMembers =
  (id: string, params: GroupedInvoicingParams): SubscriptionDecision =>
  (state, now) =>
    acting(state, id, now, (current) => {
      if (params.action === 'remove') return [];
      const { parent, members } = current.family;
      if (parent !== null) {
        throw invalidOperation(
          `Subscription ${id} belongs to ${parent.subscription_id}: nothing is invoiced with it.`,
          { reason: 'unsuitable' },
        );
      }
      assertFew(heirsOf(current).length + members.length + changing(current, params).length);
      return [];
    });

/**
 * The change of the subscriptions that are invoiced with another one: each says so in its own stream, one after the other. All
 * are looked at before the first is changed; where the process ends between two, the same request again changes the rest.
 */
export function memberChange(
  context: RequestContext,
  id: string,
  params: GroupedInvoicingParams,
): Beside {
  const { action, parent_subscription_id, child_subscription_ids: ids } = params;
  const parentNow = async () =>
    action === 'add' ? existingSubscription(await context.load(subscription, id), id) : null;
  const childAt = (childId: string, index: number): Promise<Subscription> =>
    subscriptionNamed(
      context,
      childId,
      `${pointer}/child_subscription_ids/${index}`.slice(1).replaceAll('/', '.'),
    );
  return {
    check: async () => {
      if (parent_subscription_id && parent_subscription_id !== id) {
        throw invalidField(`${pointer}/parent_subscription_id`, `must be ${id}, as in the path`);
      }
      const parent = await parentNow();
      for (const [index, childId] of ids.entries()) {
        const child = await childAt(childId, index);
        assertFree(child, id, `${pointer}/child_subscription_ids/${index}`);
        changeParent(childId, parent)(child, context.now);
      }
    },
    after: async () => {
      const parent = await parentNow();
      for (const childId of ids) {
        const change = changeParent(childId, parent);
        const outcome = await context.execute(subscription, childId, change);
        await context.carryOut(families, childId, outcome);
      }
    },
    foreseen: (current) =>
      changing(current, params).map((subscription_id) => ({
        type: 'MemberChanged',
        data: { subscription_id, is_member: action === 'add' },
      })),
    changed: async () => {
      const subscriptions = [];
      for (const [index, childId] of ids.entries()) {
        const { subscription_status: status } = await childAt(childId, index);
        subscriptions.push({ id: childId, action: 'updated' as const, status });
      }
      return { subscriptions };
    },
  };
}

/** Throws a Problem for a subscription that belongs to a third one. */
function assertFree({ family }: Subscription, parentId: string, place: string): void {
  const owner = family.parent?.subscription_id ?? parentId;
  if (owner !== parentId) throw invalidField(place, `belongs to ${owner}`);
}
