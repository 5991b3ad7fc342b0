import type { FeatureRecord } from '../features/index.ts';
import {
  createBulkEntitlementsSchema,
  createEntitlements,
  deleteEntitlement,
  entitlementDraft,
  updateEntitlement,
} from '../offers/index.ts';
import { differences, refuseUnknown, withIds } from './entry.ts';
import { entitlementEntry, entitlementFields, entitlementReferences } from './offer-entries.ts';
import type { Asked, OfferPlan } from './plan-offer.ts';

const entitlementItemSchema = createBulkEntitlementsSchema.shape.items.element;

/** Decides on the entitlements of an offer: one per feature. */
export function planEntitlements(plan: OfferPlan, asked: readonly Asked[]): void {
  const { names, faults, prune } = plan.around;
  const wanted = asked.flatMap(({ entry, pointer }) => {
    const draft = faults.at(pointer, () => draftOf(plan, { entry, pointer }));
    return draft ? [{ draft, pointer, entry: entitlementEntry(draft, names) }] : [];
  });
  const kept = new Set<string>(wanted.map(({ draft }) => draft.feature_id));
  for (const { id, ...gone } of prune ? plan.offer.entitlements : []) {
    if (kept.has(gone.feature_id)) continue;
    const { feature } = entitlementEntry(gone, names);
    plan.note(`entitlement ${feature}: deleted`, deleteEntitlement(id));
  }
  const seen = new Set<string>();
  for (const { draft, pointer, entry } of wanted) {
    const { feature_id, start_date, end_date } = draft;
    if (seen.has(feature_id)) faults.add(`${pointer}/feature`, 'is there twice');
    seen.add(feature_id);
    const before = plan.offer.entitlements.find((each) => each.feature_id === feature_id);
    const label = `entitlement ${entry.feature}`;
    const isDatedAlike = before?.start_date === start_date && before.end_date === end_date;
    faults.at(pointer, () => {
      if (before && isDatedAlike) {
        const different = differences(entitlementEntry(before, names), entry);
        plan.note(`${label}: ${different.join(', ')}`, updateEntitlement(before.id, draft));
        return;
      }
      if (before) plan.run(deleteEntitlement(before.id));
      const done = before ? 'dates' : 'created';
      plan.note(`${label}: ${done}`, createEntitlements(plan.owner, [draft]));
    });
  }
}

function draftOf({ around, owner }: OfferPlan, { entry, pointer }: Asked) {
  const { names, faults, records } = around;
  const known = [...entitlementFields, ...Object.keys(entitlementReferences)];
  refuseUnknown(entry, known, { faults, pointer });
  const fields = withIds(entry, entitlementReferences, { names, faults, pointer });
  if (fields.feature_id === undefined) {
    if (entry.feature === undefined) faults.add(`${pointer}/feature`, 'is required');
    return undefined;
  }
  const request = entitlementItemSchema.parse({ ...fields, ...owner });
  const granted = records.get(request.feature_id) as FeatureRecord | undefined;
  if (!granted) return undefined;
  return entitlementDraft(request, owner, granted.type, pointer);
}
