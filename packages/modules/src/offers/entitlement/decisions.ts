import {
  changedFields,
  type EntitlementId,
  type Instant,
  invalidField,
  isEmpty,
  Problem,
  sequencedId,
  withChanges,
} from '@counterfoil/kernel';
import type { FeatureType } from '../../features/index.ts';
import { refuseTooManyEntitlements } from '../limits.ts';
import { type OfferDecision, writableChild, writableOffer } from '../offer.ts';
import type { Owner } from '../owner.ts';
import type { EntitlementData, Grants } from './entitlement.ts';
import type { CreateEntitlement, UpdateEntitlement } from './schema.ts';

/** An entitlement as it will be but for its id. */
export type EntitlementDraft = Omit<EntitlementData, 'id'>;

/**
 * The entitlement that a request describes for a feature of a type. Fields that say nothing about
 * such a feature are left out; those that would be misunderstood are refused.
 *
 * @throws a Problem that points at the field that is missing or wrong
 */
export function entitlementDraft(
  request: CreateEntitlement,
  owner: Owner,
  featureType: FeatureType,
  pointer = '',
): EntitlementDraft {
  const given = request.feature_type;
  if (given !== undefined && given !== featureType) {
    throw invalidField(`${pointer}/feature_type`, `the feature is ${featureType}, not ${given}`);
  }
  const isMetered = featureType === 'metered';
  const grants: Grants = {
    is_enabled: request.is_enabled ?? true,
    is_soft_limit: isMetered && (request.is_soft_limit ?? false),
    static_value: request.static_value ?? null,
    usage_limit: request.usage_limit ?? null,
    usage_reset_period: isMetered ? (request.usage_reset_period ?? null) : null,
  };
  refuseMisfit(grants, featureType, pointer);
  return {
    ...owner,
    feature_id: request.feature_id,
    feature_type: featureType,
    parent_entitlement_id: (request.parent_entitlement_id ?? null) as EntitlementId | null,
    ...grants,
    start_date: request.start_date ?? null,
    end_date: request.end_date ?? null,
    display_order: 0,
  };
}

function refuseMisfit(grants: Grants, featureType: FeatureType, pointer: string): void {
  if (featureType !== 'metered' && grants.usage_limit !== null) {
    throw invalidField(`${pointer}/usage_limit`, `a ${featureType} feature has no limit`);
  }
  if (featureType === 'static' && grants.static_value === null) {
    throw invalidField(`${pointer}/static_value`, 'is required for a static feature');
  }
  if (featureType !== 'static' && grants.static_value !== null) {
    throw invalidField(`${pointer}/static_value`, `a ${featureType} feature has no value`);
  }
}

/**
 * Creates entitlements of one offer, all or none. At most one per feature: else 409 with the index of
 * the item that is one too many.
 */
export const createEntitlements =
  (owner: Owner, drafts: readonly EntitlementDraft[]): OfferDecision =>
  (state, at: Instant) => {
    const offer = writableOffer(state, owner);
    refuseTooManyEntitlements(offer, drafts.length);
    const features = new Set(offer.entitlements.map(({ feature_id }) => feature_id));
    return drafts.map((draft, index) => {
      const { feature_id } = draft;
      if (features.has(feature_id)) throw entitledAlready(owner, feature_id, index);
      features.add(feature_id);
      const id = sequencedId('ent', at, owner.entity_id, offer.made + index);
      return { type: 'EntitlementCreated', data: { ...draft, id } };
    });
  };

const entitledAlready = ({ entity_id }: Owner, featureId: string, index: number): Problem =>
  new Problem('already_exists', `${entity_id} has an entitlement for ${featureId} already.`, {
    details: { field: 'feature_id', value: featureId, index },
  });

/** Changes what an entitlement grants. Null makes a limit unlimited; 0 stays zero (D17). */
export const updateEntitlement =
  (id: EntitlementId, request: UpdateEntitlement): OfferDecision =>
  (state) => {
    const entitlement = writableChild(state?.entitlements, 'entitlement', id);
    const { feature_type } = entitlement;
    const isMetered = feature_type === 'metered';
    const changes = changedFields<Grants>(entitlement, {
      is_enabled: request.is_enabled ?? undefined,
      is_soft_limit: isMetered ? (request.is_soft_limit ?? undefined) : undefined,
      static_value: request.static_value,
      usage_limit: request.usage_limit,
      usage_reset_period: isMetered ? request.usage_reset_period : undefined,
    });
    refuseMisfit(withChanges<Grants>(entitlement, changes), feature_type, '');
    return isEmpty(changes) ? [] : [{ type: 'EntitlementUpdated', data: { id, changes } }];
  };

/** Removes an entitlement: the feature is not granted any more. */
export const deleteEntitlement =
  (id: EntitlementId): OfferDecision =>
  (state) => {
    writableChild(state?.entitlements, 'entitlement', id);
    return [{ type: 'EntitlementDeleted', data: { id } }];
  };
