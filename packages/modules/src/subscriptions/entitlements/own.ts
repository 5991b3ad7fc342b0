import {
  type Changes,
  changedFields,
  type EntitlementId,
  invalidField,
  invalidOperation,
  isEmpty,
  notFound,
  Problem,
  sequencedId,
  withChanges,
} from '@counterfoil/kernel';
import { type EntitlementValues, overrideValues } from '../../entitlements/index.ts';
import type { FeatureType } from '../../features/index.ts';
import {
  type CreateEntitlement,
  entitlementDraft,
  forItemNow,
  type UpdateEntitlement,
} from '../../offers/index.ts';
import { acting, type SubscriptionDecision } from '../decisions.ts';
import type { SubscriptionEvent } from '../events.ts';
import type { Subscription } from '../subscription.ts';
import type { Granted } from './granted.ts';

/** Entitlements of its own that a subscription has at once, at most. */
export const maximumOwnEntitlements = 100;

/** An entitlement that a request asks for, of a feature that was looked up. */
export interface AskedEntitlement {
  readonly request: CreateEntitlement;
  readonly feature_type: FeatureType;
  /** The place in the request; empty for its body. */
  readonly pointer: string;
}

/**
 * Gives a subscription entitlements of its own, all or none (E 8.2): beside what its plan and its add-ons give, or in the
 * place of one of those, whose values hold where the request leaves them out. One for each feature at most.
 */
export const addEntitlements =
  (id: string, asked: readonly AskedEntitlement[]): SubscriptionDecision =>
  (state, now) =>
    acting(state, id, now, (current) => {
      const own = ownOf(current);
      if (own.length + asked.length > maximumOwnEntitlements) {
        throw invalidOperation(
          `A subscription has at most ${maximumOwnEntitlements} entitlements of its own.`,
          { reason: 'limit_reached', limit: maximumOwnEntitlements },
        );
      }
      const taken = new Set(own.map(({ feature_id }) => feature_id));
      return asked.map((each, index): SubscriptionEvent => {
        const sequence = current.entitlements_made + index;
        const entitlement_id = sequencedId('ent', now, id, sequence);
        const added = () => grantedTo(current, each, entitlement_id);
        const entitlement = each.pointer === '' ? added() : forItemNow(index, added);
        const { feature_id } = entitlement;
        if (taken.has(feature_id)) throw entitledAlready(id, feature_id, index);
        taken.add(feature_id);
        return { type: 'EntitlementAdded', data: { entitlement } };
      });
    });

/** The entitlements of the subscription itself. */
export const ownOf = ({ id, entitlements }: Subscription): readonly Granted[] =>
  entitlements.filter(({ entity_id }) => entity_id === id);

const entitledAlready = (id: string, feature_id: string, index: number): Problem =>
  new Problem('already_exists', `${id} has an entitlement for ${feature_id} already.`, {
    details: { field: 'feature_id', value: feature_id, index },
  });

function grantedTo(
  current: Subscription,
  { request, feature_type, pointer }: AskedEntitlement,
  entitlement_id: EntitlementId,
): Granted {
  const parent = parentOf(current, request, pointer);
  const inherited = parent ? overrideValues(parent, valuesOf(request)) : {};
  const owner = { entity_type: 'PLAN', entity_id: current.id } as const;
  // Drafts of entitlements are of offers; this one gets another owner right away.
  const { display_order: _, ...draft } = entitlementDraft(
    { ...request, ...inherited },
    owner,
    feature_type,
    pointer,
  );
  const { end_date } = draft;
  if (end_date !== null && end_date <= current.start_date) {
    throw invalidField(
      `${pointer}/end_date`,
      `must be after the subscription starts, ${current.start_date}`,
    );
  }
  return { ...draft, entitlement_id, entity_type: 'SUBSCRIPTION', entity_name: current.plan_name };
}

/** The values that a request gives: those that it leaves out are as they were. */
function valuesOf(
  request: Pick<UpdateEntitlement, keyof EntitlementValues>,
): Changes<EntitlementValues> {
  const { is_enabled, is_soft_limit, usage_limit, usage_reset_period, static_value } = request;
  return {
    is_enabled: is_enabled ?? undefined,
    is_soft_limit: is_soft_limit ?? undefined,
    usage_limit,
    usage_reset_period,
    static_value,
  };
}

/**
 * The entitlement that another stands in for: of the plan or of an add-on of the subscription, for the same feature. One
 * that replaced something else would grant a feature that nobody sold.
 */
function parentOf(
  { entitlements, addons, id }: Subscription,
  { parent_entitlement_id, feature_id }: CreateEntitlement,
  pointer: string,
): Granted | null {
  if (!parent_entitlement_id) return null;
  const ofAddons = addons.flatMap((addon) =>
    addon.addon_status === 'cancelled' ? [] : addon.entitlements,
  );
  const parent = [...entitlements, ...ofAddons].find(
    (each) => each.entitlement_id === parent_entitlement_id && each.entity_id !== id,
  );
  if (!parent) throw notFound('entitlement', parent_entitlement_id, 'parent_entitlement_id');
  if (parent.feature_id === feature_id) return parent;
  throw invalidField(
    `${pointer}/parent_entitlement_id`,
    `grants another feature, ${parent.feature_id}`,
  );
}

/** Changes what an entitlement of the subscription grants. Null makes a limit unlimited; 0 stays zero (D17). */
export const changeEntitlement =
  (id: string, entitlementId: string, request: UpdateEntitlement): SubscriptionDecision =>
  (state, now) =>
    acting(state, id, now, (current) => {
      const before = ownEntitlement(current, entitlementId);
      const isMetered = before.feature_type === 'metered';
      const { is_soft_limit, usage_reset_period, ...values } = valuesOf(request);
      const changes = changedFields<EntitlementValues>(before, {
        ...values,
        ...(isMetered && { is_soft_limit, usage_reset_period }),
      });
      // What fits a feature is known where entitlements are made.
      entitlementDraft(
        { feature_id: before.feature_id, ...withChanges<EntitlementValues>(before, changes) },
        { entity_type: 'PLAN', entity_id: id },
        before.feature_type,
      );
      const { entitlement_id } = before;
      if (isEmpty(changes)) return [];
      return [{ type: 'EntitlementChanged', data: { entitlement_id, changes } }];
    });

/** Takes an entitlement of its own from a subscription: what it stood in for holds again. */
export const removeEntitlement =
  (id: string, entitlementId: string): SubscriptionDecision =>
  (state, now) =>
    acting(state, id, now, (current) => {
      const { entitlement_id } = ownEntitlement(current, entitlementId);
      return [{ type: 'EntitlementRemoved', data: { entitlement_id } }];
    });

function ownEntitlement(current: Subscription, entitlementId: string): Granted {
  const found = ownOf(current).find((each) => each.entitlement_id === entitlementId);
  if (!found) throw notFound('entitlement', entitlementId);
  return found;
}
