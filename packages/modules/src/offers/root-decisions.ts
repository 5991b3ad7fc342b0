import {
  type AddonId,
  type Changes,
  type CostsheetId,
  changedFields,
  invariant,
  isEmpty,
  type PlanId,
  withChanges,
  writable,
} from '@counterfoil/kernel';
import type { AddonFields } from './addon/addon.ts';
import type { CostsheetFields } from './costsheet/costsheet.ts';
import { addonOf, costsheetOf, type Offer, planOf } from './offer.ts';
import type { OfferDecision } from './owner.ts';
import type { PlanFields } from './plan/plan.ts';
import { publishedIds, type TakenAlong } from './records.ts';
import type {
  CreateAddon,
  CreateCostsheet,
  CreatePlan,
  UpdateAddon,
  UpdateCostsheet,
  UpdatePlan,
} from './root-schema.ts';

const nothing = { lookup_key: null, description: null, metadata: {} } as const;

/** Creates a plan without prices, entitlements and credit grants. */
export const createPlan =
  (id: PlanId, { name, ...optional }: CreatePlan): OfferDecision =>
  (state) => {
    invariant(state === null, `plan ${id} is created twice`);
    const empty = { ...nothing, display_order: null };
    const fields = withChanges<Omit<PlanFields, 'name'>>(empty, optional);
    return [{ type: 'PlanCreated', data: { id, name, ...fields } }];
  };

/** Changes the fields of a plan that are given and differ. */
export const updatePlan =
  (id: PlanId, request: UpdatePlan): OfferDecision =>
  (state) => {
    const current = writable(planOf(state), 'plan', id);
    const changes: Changes<PlanFields> = changedFields<PlanFields>(current, request);
    return isEmpty(changes) ? [] : [{ type: 'PlanUpdated', data: { changes } }];
  };

/** Takes a plan out of use with all that it owns, for good. One that is archived stays as it is. */
export const archivePlan =
  (id: PlanId): OfferDecision =>
  (state) => {
    if (planOf(state)?.status === 'archived') return [];
    writable(planOf(state), 'plan', id);
    return [{ type: 'PlanArchived', data: takenAlong(state) }];
  };

/** Creates an add-on without prices and entitlements. */
export const createAddon =
  (id: AddonId, { name, lookup_key, ...optional }: CreateAddon): OfferDecision =>
  (state) => {
    invariant(state === null, `add-on ${id} is created twice`);
    const empty = { description: null, metadata: {} };
    const fields = withChanges<Omit<AddonFields, 'name'>>(empty, optional);
    return [{ type: 'AddonCreated', data: { id, lookup_key, name, ...fields } }];
  };

/** Changes the fields of an add-on that are given and differ. */
export const updateAddon =
  (id: AddonId, request: UpdateAddon): OfferDecision =>
  (state) => {
    const current = writable(addonOf(state), 'add-on', id);
    const changes: Changes<AddonFields> = changedFields<AddonFields>(current, request);
    return isEmpty(changes) ? [] : [{ type: 'AddonUpdated', data: { changes } }];
  };

/** Takes an add-on out of use with all that it owns, for good. */
export const archiveAddon =
  (id: AddonId): OfferDecision =>
  (state) => {
    if (addonOf(state)?.status === 'archived') return [];
    writable(addonOf(state), 'add-on', id);
    return [{ type: 'AddonArchived', data: takenAlong(state) }];
  };

/** Creates a costsheet without prices. */
export const createCostsheet =
  (id: CostsheetId, { name, ...optional }: CreateCostsheet): OfferDecision =>
  (state) => {
    invariant(state === null, `costsheet ${id} is created twice`);
    const fields = withChanges<Omit<CostsheetFields, 'name'>>(nothing, optional);
    return [{ type: 'CostsheetCreated', data: { id, name, ...fields } }];
  };

/** Changes the fields of a costsheet that are given and differ. */
export const updateCostsheet =
  (id: CostsheetId, request: UpdateCostsheet): OfferDecision =>
  (state) => {
    const current = writable(costsheetOf(state), 'costsheet', id);
    const changes: Changes<CostsheetFields> = changedFields<CostsheetFields>(current, request);
    return isEmpty(changes) ? [] : [{ type: 'CostsheetUpdated', data: { changes } }];
  };

/** Removes a costsheet with its prices. */
export const deleteCostsheet =
  (id: CostsheetId): OfferDecision =>
  (state) => {
    writable(costsheetOf(state), 'costsheet', id);
    return [{ type: 'CostsheetDeleted', data: takenAlong(state) }];
  };

function takenAlong(state: Offer | null): TakenAlong {
  invariant(state, 'an offer exists when it goes out of use');
  return {
    prices: publishedIds(state.prices),
    entitlements: publishedIds(state.entitlements),
    credit_grants: publishedIds(state.credit_grants),
  };
}
