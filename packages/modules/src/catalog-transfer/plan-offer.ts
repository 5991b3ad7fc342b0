import { type Instant, invariant, type Stamp, type Stamped } from '@counterfoil/kernel';
import type { FeatureRecord } from '../features/index.ts';
import {
  createBulkEntitlementsSchema,
  createEntitlements,
  createPriceSchema,
  deleteEntitlement,
  entitlementDraft,
  type Offer,
  type OfferDecision,
  type OfferEvent,
  type OfferState,
  type Owner,
  offer,
  type PriceDraft,
  priceDraft,
  updateEntitlement,
} from '../offers/index.ts';
import type { PriceUnitRecord } from '../pricing-units/index.ts';
import type { AnyRecord } from '../record/index.ts';
import { type AllNames, differences, type Faults, refuseUnknown, withIds } from './entry.ts';
import {
  entitlementEntry,
  entitlementFields,
  entitlementReferences,
  priceFields,
  priceReferences,
} from './offer-entries.ts';
import type { OfferKind } from './offer-kinds.ts';
import { planCreditGrants } from './plan-grants.ts';
import { planPrices } from './plan-prices.ts';
import type { Entry } from './schema.ts';

/** The surroundings that the plan of an offer is made with. */
export interface OfferSurroundings {
  readonly names: AllNames;
  /** The records that references lead to, as they will be. */
  readonly records: ReadonlyMap<string, AnyRecord>;
  readonly faults: Faults;
  readonly at: Instant;
  readonly stamp: Stamp;
  readonly prune: boolean;
}

/** An entry of the file about one record, and its place there. */
export interface Asked {
  readonly entry: Entry;
  readonly pointer: string;
}

const entitlementItemSchema = createBulkEntitlementsSchema.shape.items.element;

/**
 * The events that make an offer as an entry says, each decided on the state that the ones before
 * led to.
 */
export class OfferPlan {
  readonly events: OfferEvent[] = [];
  readonly details: string[] = [];
  readonly around: OfferSurroundings;
  readonly owner: Owner;
  #state: OfferState;

  constructor(kind: OfferKind, id: string, state: OfferState, around: OfferSurroundings) {
    this.around = around;
    this.owner = { entity_type: kind.type, entity_id: id };
    this.#state = state;
  }

  /** Decides and continues from there. Returns whether anything followed. */
  run(decision: OfferDecision): boolean {
    const { at, stamp } = this.around;
    const events = decision(this.#state, at);
    for (const event of events) {
      this.#state = offer.evolve(this.#state, { ...event, stamp } as Stamped<OfferEvent>);
      this.events.push(event);
    }
    return events.length > 0;
  }

  /** Runs a decision, and notes it when anything followed. */
  note(detail: string, decision: OfferDecision): void {
    if (this.run(decision)) this.details.push(detail);
  }

  /** The offer as decided so far. */
  get offer(): Offer {
    invariant(this.#state, 'an offer is made before what it owns');
    return this.#state;
  }

  /** Prices: see `planPrices`. A price that has ended has nothing left to do. */
  prices(asked: readonly Asked[]): void {
    const { at, faults } = this.around;
    const drafts = asked.flatMap(({ entry, pointer }) => {
      const draft = faults.at(pointer, () => this.#priceDraft(entry, pointer));
      const isOver = draft?.end_date !== null && (draft?.end_date ?? at) <= at;
      return draft && !isOver ? [{ draft, pointer }] : [];
    });
    planPrices(this, drafts);
  }

  #priceDraft(entry: Entry, pointer: string): PriceDraft {
    const { names, faults, records } = this.around;
    refuseUnknown(entry, [...priceFields, ...Object.keys(priceReferences)], { faults, pointer });
    const fields = withIds(entry, priceReferences, { names, faults, pointer });
    const request = createPriceSchema.parse({ ...fields, ...this.owner });
    const group = records.get(request.group_id ?? '') as { entity_type?: string } | undefined;
    if (group && group.entity_type !== 'price') {
      faults.add(`${pointer}/group`, 'is no group of prices');
    }
    const code = request.price_unit_config?.price_unit;
    if (code === undefined) return priceDraft(request, this.owner, null, pointer);
    const unitId = names.pricing_units.idOf(code.toLowerCase()) ?? '';
    const unit = records.get(unitId) as PriceUnitRecord | undefined;
    const unitPointer = `${pointer}/price_unit_config/price_unit`;
    if (!unit) faults.add(unitPointer, 'names nothing in pricing_units');
    else if (unit.base_currency !== request.currency) {
      faults.add(`${pointer}/currency`, `the pricing unit is in ${unit.base_currency}`);
    }
    return priceDraft(request, this.owner, unit ?? null, pointer);
  }

  /** Entitlements: one per feature. */
  entitlements(asked: readonly Asked[]): void {
    const { names, faults, prune } = this.around;
    const wanted = asked.flatMap(({ entry, pointer }) => {
      const draft = faults.at(pointer, () => this.#entitlementDraft(entry, pointer));
      return draft ? [{ draft, pointer, entry: entitlementEntry(draft, names) }] : [];
    });
    const kept = new Set<string>(wanted.map(({ draft }) => draft.feature_id));
    for (const { id, ...gone } of prune ? this.offer.entitlements : []) {
      if (kept.has(gone.feature_id)) continue;
      const { feature } = entitlementEntry(gone, names);
      this.note(`entitlement ${feature}: deleted`, deleteEntitlement(id));
    }
    const seen = new Set<string>();
    for (const { draft, pointer, entry } of wanted) {
      const { feature_id, start_date, end_date } = draft;
      if (seen.has(feature_id)) faults.add(`${pointer}/feature`, 'is there twice');
      seen.add(feature_id);
      const before = this.offer.entitlements.find((each) => each.feature_id === feature_id);
      const label = `entitlement ${entry.feature}`;
      const isDatedAlike = before?.start_date === start_date && before.end_date === end_date;
      faults.at(pointer, () => {
        if (before && isDatedAlike) {
          const different = differences(entitlementEntry(before, names), entry);
          this.note(`${label}: ${different.join(', ')}`, updateEntitlement(before.id, draft));
          return;
        }
        if (before) this.run(deleteEntitlement(before.id));
        const done = before ? 'dates' : 'created';
        this.note(`${label}: ${done}`, createEntitlements(this.owner, [draft]));
      });
    }
  }

  #entitlementDraft(entry: Entry, pointer: string) {
    const { names, faults, records } = this.around;
    const known = [...entitlementFields, ...Object.keys(entitlementReferences)];
    refuseUnknown(entry, known, { faults, pointer });
    const fields = withIds(entry, entitlementReferences, { names, faults, pointer });
    if (fields.feature_id === undefined) {
      if (entry.feature === undefined) faults.add(`${pointer}/feature`, 'is required');
      return undefined;
    }
    const request = entitlementItemSchema.parse({ ...fields, ...this.owner });
    const granted = records.get(request.feature_id) as FeatureRecord | undefined;
    if (!granted) return undefined;
    return entitlementDraft(request, this.owner, granted.type, pointer);
  }

  /** Credit grants: see `planCreditGrants`. */
  creditGrants(asked: readonly Asked[]): void {
    planCreditGrants(this, asked);
  }
}
