import type { AnyProjection } from '@counterfoil/engine/define';
import type { AddonId, CostsheetId, IdPrefix, PlanId } from '@counterfoil/kernel';
import { withoutNulls } from '@counterfoil/kernel';
import {
  addonTable,
  archiveAddon,
  archivePlan,
  costsheetTable,
  createAddon,
  createAddonSchema,
  createCostsheet,
  createCostsheetSchema,
  createPlan,
  createPlanSchema,
  deleteCostsheet,
  type OfferDecision,
  type OwnerType,
  planTable,
  updateAddon,
  updateCostsheet,
  updatePlan,
} from '../offers/index.ts';
import type { Entry, OfferSection } from './schema.ts';

/** The differences between plans, add-ons and costsheets in a file and in the decisions. */
export interface OfferKind {
  readonly section: OfferSection;
  readonly type: OwnerType;
  readonly prefix: IdPrefix;
  readonly table: AnyProjection;
  readonly claim: string;
  /** Fields of the offer itself. */
  readonly fields: readonly string[];
  /** The sections that it may own. */
  readonly owns: readonly ('prices' | 'entitlements' | 'credit_grants')[];
  /** Throws a ZodError when the fields are wrong. */
  readonly create: (id: string, fields: Entry) => OfferDecision;
  /** Makes the offer itself as the fields say; fields that are not named are emptied. */
  readonly update: (id: string, fields: Entry) => OfferDecision;
  readonly archive: (id: string) => OfferDecision;
}

const plain = <Fields extends object>(fields: Fields) => withoutNulls(fields);
const emptied = { description: null, metadata: {} } as const;

const plans: OfferKind = {
  section: 'plans',
  type: 'PLAN',
  prefix: 'plan',
  table: planTable,
  claim: 'plan_lookup_key',
  fields: ['name', 'lookup_key', 'description', 'display_order', 'metadata'],
  owns: ['prices', 'entitlements', 'credit_grants'],
  create: (id, fields) => createPlan(id as PlanId, createPlanSchema.parse(plain(fields))),
  update: (id, fields) => {
    const given = createPlanSchema.parse(plain(fields));
    const nothing = { ...emptied, lookup_key: null, display_order: null };
    return updatePlan(id as PlanId, { ...nothing, ...withoutUndefined(given) });
  },
  archive: (id) => archivePlan(id as PlanId),
};

const addons: OfferKind = {
  section: 'addons',
  type: 'ADDON',
  prefix: 'addon',
  table: addonTable,
  claim: 'addon_lookup_key',
  fields: ['name', 'lookup_key', 'description', 'metadata'],
  owns: ['prices', 'entitlements', 'credit_grants'],
  create: (id, fields) => createAddon(id as AddonId, createAddonSchema.parse(plain(fields))),
  update: (id, fields) => {
    const { lookup_key: _fixed, ...given } = createAddonSchema.parse(plain(fields));
    return updateAddon(id as AddonId, { ...emptied, ...withoutUndefined(given) });
  },
  archive: (id) => archiveAddon(id as AddonId),
};

const costsheets: OfferKind = {
  section: 'costsheets',
  type: 'COSTSHEET',
  prefix: 'cost',
  table: costsheetTable,
  claim: 'costsheet_lookup_key',
  fields: ['name', 'lookup_key', 'description', 'metadata'],
  owns: ['prices'],
  create: (id, fields) =>
    createCostsheet(id as CostsheetId, createCostsheetSchema.parse(plain(fields))),
  update: (id, fields) => {
    const given = createCostsheetSchema.parse(plain(fields));
    const nothing = { ...emptied, lookup_key: null };
    return updateCostsheet(id as CostsheetId, { ...nothing, ...withoutUndefined(given) });
  },
  archive: (id) => deleteCostsheet(id as CostsheetId),
};

/** An absent member would hide the empty value under it. */
const withoutUndefined = <Fields extends object>(fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Fields;

/** The kinds of offers. */
export const offerKinds: readonly OfferKind[] = [plans, addons, costsheets];
