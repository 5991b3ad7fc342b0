import type { RequestContext } from '@counterfoil/engine/define';
import { existing, invalidField, invalidOperation, notFound } from '@counterfoil/kernel';
import {
  type FeatureRecord,
  feature,
  featureReference,
  featureView,
} from '../../features/index.ts';
import { meter } from '../../meters/index.ts';
import { addonOf, type OfferEvent, type OfferState, offer, planOf } from '../offer.ts';
import type { Owner } from '../owner.ts';
import { once } from '../price/references.ts';
import { entitlementTable } from '../projection.ts';
import { recordWith } from '../records.ts';
import { addonView, entitlementView, planView } from '../views.ts';
import { type EntitlementDraft, entitlementDraft } from './decisions.ts';
import type { CreateEntitlement, Entitlement } from './schema.ts';

/** An offer, or a subscription, whose entitlements are in its own stream. */
export type EntitlementOwner =
  | Owner
  | { readonly entity_type: 'SUBSCRIPTION'; readonly entity_id: string };

/** The owner that a request names, as entity_type with entity_id or as plan_id. */
export function entitlementOwner({
  plan_id,
  entity_type,
  entity_id,
}: CreateEntitlement): EntitlementOwner {
  const id = plan_id ?? entity_id ?? '';
  return { entity_type: entity_type ?? 'PLAN', entity_id: id };
}

/** Makes drafts of requested entitlements: their references are checked, each only once. */
export function entitlementDrafts(context: RequestContext) {
  const grantable = once((id) => grantableFeature(context, id));
  return async (
    request: CreateEntitlement,
    owner: Owner,
    pointer = '',
  ): Promise<EntitlementDraft> => {
    const { type } = await grantable(request.feature_id);
    await assertParent(context, request, owner, pointer);
    return entitlementDraft(request, owner, type, pointer);
  };
}

/**
 * The feature that is to be granted, from the log. One that counts maxima of buckets is refused: a
 * limit on a sum of maxima would mean nothing.
 */
export async function grantableFeature(
  context: RequestContext,
  id: string,
): Promise<FeatureRecord> {
  const record = await featureReference(context, id);
  if (record.meter_id === null) return record;
  const counted = (await context.load(meter, record.meter_id))?.aggregation;
  if (counted?.type === 'MAX' && counted.bucket_size !== null) {
    const message = `The feature ${id} counts maxima of buckets: it cannot be granted up to a limit.`;
    throw invalidOperation(message, { reason: 'archived', field: 'feature_id' });
  }
  return record;
}

/**
 * The entitlement that another stands in for: of another plan or add-on, for the same feature. One
 * that replaced something else would grant a feature that nobody sold. Unknown: 404; misfit: 400,
 * both naming the field.
 */
async function assertParent(
  context: RequestContext,
  { parent_entitlement_id: id = null, feature_id }: CreateEntitlement,
  owner: Owner,
  pointer: string,
): Promise<void> {
  if (id === null) return;
  const found = await context.read.find(entitlementTable, id);
  const parentOwner = found?.resource.entity_id ?? '';
  const state = found ? await context.load(offer, parentOwner) : null;
  const parent = recordWith(state?.entitlements ?? [], id);
  if (!parent) throw notFound('entitlement', id, 'parent_entitlement_id');
  const field = `${pointer}/parent_entitlement_id`;
  if (parent.feature_id !== feature_id) {
    throw invalidField(field, `grants another feature, ${parent.feature_id}`);
  }
  if (parent.entity_id === owner.entity_id) throw invalidField(field, 'is of the same owner');
  if (parent.status !== 'published') throw invalidField(field, `is ${parent.status}`);
}

interface Written {
  readonly state: OfferState;
  readonly events: readonly OfferEvent[];
}

/** Entitlements that a command has written, with features and owner as the log has them now. */
export async function shownEntitlements(
  context: RequestContext,
  { state }: Written,
  ids: readonly string[],
): Promise<Entitlement[]> {
  const featureNow = once(async (id) => {
    const record = await context.load(feature, id);
    return record && featureView(record);
  });
  const owner = ownerOf(state);
  const { entitlements } = existing(state, 'offer');
  return Promise.all(
    ids.map(async (id) => {
      const shown = entitlementView(recordWith(entitlements, id));
      const granted = await featureNow(shown.feature_id);
      return { ...shown, ...(granted && { feature: granted }), ...owner };
    }),
  );
}

function ownerOf(state: OfferState) {
  const [plan, addon] = [planOf(state), addonOf(state)];
  return { ...(plan && { plan: planView(plan) }), ...(addon && { addon: addonView(addon) }) };
}

/** The ids of the entitlements that a command has made. */
export const madeIds = ({ events }: Written): string[] =>
  events.flatMap((event) => (event.type === 'EntitlementCreated' ? [event.data.id] : []));
