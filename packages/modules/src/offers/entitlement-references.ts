import type { RequestContext } from '@counterfoil/engine/define';
import { existing, invalidOperation, notFound } from '@counterfoil/kernel';
import { type FeatureRecord, feature, featureReference, featureView } from '../features/index.ts';
import { meter } from '../meters/index.ts';
import { type EntitlementDraft, entitlementDraft } from './entitlement-decisions.ts';
import type { CreateEntitlement, Entitlement } from './entitlement-schema.ts';
import { addonOf, type OfferEvent, type OfferState, planOf } from './offer.ts';
import type { Owner } from './owner.ts';
import { once } from './price-references.ts';
import { entitlementTable } from './projection.ts';
import { recordWith } from './records.ts';
import { addonView, entitlementView, planView } from './views.ts';

/**
 * The offer that a request names as owner, as entity_type with entity_id or as plan_id. Subscriptions
 * do not exist yet, so none is found: 404 naming entity_id.
 */
export function entitlementOwner({ plan_id, entity_type, entity_id }: CreateEntitlement): Owner {
  const id = plan_id ?? entity_id ?? '';
  switch (entity_type) {
    case 'SUBSCRIPTION':
      throw notFound('subscription', id, 'entity_id');
    case 'ADDON':
      return { entity_type, entity_id: id };
    default:
      return { entity_type: 'PLAN', entity_id: id };
  }
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
    await assertParent(context, request.parent_entitlement_id ?? null);
    return entitlementDraft(request, owner, type, pointer);
  };
}

/**
 * The feature that is to be granted, from the log. One that counts maxima of buckets is refused: a
 * limit on a sum of maxima would mean nothing.
 */
async function grantableFeature(context: RequestContext, id: string): Promise<FeatureRecord> {
  const record = await featureReference(context, id);
  if (record.meter_id === null) return record;
  const counted = (await context.load(meter, record.meter_id))?.aggregation;
  if (counted?.type === 'MAX' && counted.bucket_size !== null) {
    const message = `The feature ${id} counts maxima of buckets: it cannot be granted up to a limit.`;
    throw invalidOperation(message, { field: 'feature_id' });
  }
  return record;
}

async function assertParent(context: RequestContext, id: string | null): Promise<void> {
  if (id === null || (await context.read.find(entitlementTable, id))) return;
  throw notFound('entitlement', id, 'parent_entitlement_id');
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
