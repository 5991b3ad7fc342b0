import { invalidField, invalidOperation, type SubscriptionId } from '@counterfoil/kernel';
import { acting, assertRunning, type SubscriptionDecision } from '../decisions.ts';
import type { SubscriptionEvent } from '../events.ts';
import type { Subscription, SubscriptionState } from '../subscription.ts';
import { isLive } from '../time/steps.ts';
import { type HeirData, heirsOf, inheritedId, maximumHeirs, typeOf } from './family.ts';
import { termsOf } from './following.ts';

/** Customers who are to begin or to cease to inherit a subscription, as a request names them. */
export interface HeirsOrder {
  readonly added: readonly NamedHeir[];
  readonly removed: readonly NamedHeir[];
}

interface NamedHeir {
  readonly customer_id: HeirData['customer_id'];
  /** The place in the request. */
  readonly pointer: string;
}

/** Changes who inherits a subscription (E 10.9). Nothing is charged or credited for that. */
export const changeHeirs =
  (id: string, order: HeirsOrder): SubscriptionDecision =>
  (state, now) =>
    acting(state, id, now, (current) => {
      assertRunning(current);
      assertParent(current);
      const heirs = heirsOf(current);
      const removed = order.removed.map(({ customer_id, pointer }) => {
        const heir = heirs.find((each) => each.customer_id === customer_id);
        if (!heir) throw invalidField(pointer, 'does not inherit the subscription');
        return heir.subscription_id;
      });
      const added = order.added.map(({ customer_id, pointer }) => {
        if (heirs.some((each) => each.customer_id === customer_id)) {
          throw invalidField(pointer, 'inherits the subscription already');
        }
        if (customer_id === current.customer_id) {
          throw invalidField(pointer, 'has the subscription itself');
        }
        const earlier = current.family.heirs.filter((each) => each.customer_id === customer_id);
        const subscription_id = inheritedId(id, customer_id, earlier.length);
        return { subscription_id, customer_id };
      });
      assertFew(heirs.length - removed.length + added.length);
      const { opened } = current;
      const data = { at: now, added, removed, terms: termsOf(current, now), opened };
      return [{ type: 'HeirsChanged', data }];
    });

/** Lets a subscription be inherited unless it belongs to another one: there is one level. */
function assertParent({ id, family }: Subscription): void {
  if (family.parent === null) return;
  throw invalidOperation(
    `Subscription ${id} belongs to ${family.parent.subscription_id}, and nobody can inherit it.`,
    { reason: 'unsuitable' },
  );
}

/** Throws a Problem for more heirs or members than a family may have. */
export function assertFew(count: number): void {
  if (count <= maximumHeirs) return;
  throw invalidOperation(`A subscription has at most ${maximumHeirs} others with it.`, {
    reason: 'limit_reached',
    limit: maximumHeirs,
  });
}

/** Lets two subscriptions be invoiced together: in one currency, and in one rhythm. Throws a Problem. */
export function assertInvoicedTogether(
  child: Pick<Subscription, 'id' | 'currency'> & {
    readonly rhythm: Pick<Subscription['cycle'], 'unit' | 'count'>;
  },
  parent: Subscription,
): void {
  const refuse = (why: string) =>
    invalidOperation(`Subscription ${child.id} cannot be invoiced with ${parent.id}: ${why}.`, {
      reason: 'unsuitable',
    });
  if (child.id === parent.id) throw refuse('they are the same');
  if (!isLive(parent)) throw refuse(`that is ${parent.subscription_status}`);
  if (parent.family.parent !== null) throw refuse('that belongs to another one itself');
  if (child.currency !== parent.currency) throw refuse(`that is in ${parent.currency}`);
  const { unit, count } = parent.cycle;
  if (child.rhythm.unit !== unit || child.rhythm.count !== count) {
    throw refuse(`that has periods of ${count} ${unit}`);
  }
}

/**
 * Lets a subscription be invoiced with another one, or alone again (E 10.9). It keeps its lines, periods and settlements.
 *
 * @param parent as it is now; null: none
 */
export const changeParent =
  (id: string, parent: Subscription | null): SubscriptionDecision =>
  (state, now) =>
    acting(state, id, now, (current) => {
      const before = current.family.parent?.subscription_id ?? null;
      if (parent === null) {
        return before === null ? [] : [{ type: 'ParentChanged', data: { parent: null, before } }];
      }
      if (before === parent.id) return [];
      if (typeOf(current) === 'parent') {
        throw invalidOperation(`Subscription ${id} is a parent itself.`, { reason: 'unsuitable' });
      }
      assertInvoicedTogether({ ...current, rhythm: current.cycle }, parent);
      const relation = 'grouped_invoicing' as const;
      const data = { parent: { subscription_id: parent.id, relation }, before };
      return [{ type: 'ParentChanged', data }];
    });

/** Joins a parent that asked for it as it was created. One that does not fit any more, or has a parent, stays alone. */
export const joinParent =
  (parentId: SubscriptionId): SubscriptionDecision =>
  (state) => {
    if (state === null || !isLive(state)) return [];
    const { parent, heirs, members } = state.family;
    const isTaken = members.length > 0 || heirs.some(({ until }) => until === null);
    // What a change of plan brings is the same group under another id.
    if (isTaken || parent?.relation === 'inherited' || parent?.subscription_id === parentId) {
      return [];
    }
    const joined = { subscription_id: parentId, relation: 'grouped_invoicing' } as const;
    const before = parent?.subscription_id ?? null;
    return [{ type: 'ParentChanged', data: { parent: joined, before } }];
  };

/** Notes that another subscription is invoiced with this one, or no more. Known, no event. */
export const noteMember =
  (subscription_id: SubscriptionId, is_member: boolean) =>
  (state: SubscriptionState): readonly SubscriptionEvent[] => {
    if (state === null || state.family.members.includes(subscription_id) === is_member) return [];
    return [{ type: 'MemberChanged', data: { subscription_id, is_member } }];
  };
