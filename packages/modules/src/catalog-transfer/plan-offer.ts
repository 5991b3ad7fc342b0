import {
  type CreditGrantId,
  canonicalJson,
  type GroupId,
  type Instant,
  invariant,
  type PriceId,
  type Stamp,
  type Stamped,
} from '@counterfoil/kernel';
import type { FeatureRecord } from '../features/index.ts';
import {
  createBulkEntitlementsSchema,
  createCreditGrant,
  createCreditGrantSchema,
  createEntitlements,
  createPriceSchema,
  createPrices,
  deleteEntitlement,
  endCreditGrant,
  endPrice,
  entitlementDraft,
  type Offer,
  type OfferDecision,
  type OfferEvent,
  type OfferState,
  type Owner,
  offer,
  type PriceDraft,
  priceDraft,
  updateCreditGrant,
  updateEntitlement,
  updatePrice,
} from '../offers/index.ts';
import type { PriceUnitRecord } from '../pricing-units/index.ts';
import { type AllNames, differences, type Faults, refuseUnknown, withIds } from './entry.ts';
import type { AnyRecord } from './kind.ts';
import {
  currentGrants,
  currentPrices,
  entitlementEntry,
  entitlementFields,
  entitlementReferences,
  grantEntry,
  grantFields,
  priceEntry,
  priceFields,
  priceLabels,
  priceReferences,
} from './offer-entries.ts';
import type { OfferKind } from './offer-kinds.ts';
import type { Entry } from './schema.ts';

/** What the plan of an offer is made with. */
export interface OfferSurroundings {
  readonly names: AllNames;
  /** The records that references lead to, as they will be. */
  readonly records: ReadonlyMap<string, AnyRecord>;
  readonly faults: Faults;
  readonly at: Instant;
  readonly stamp: Stamp;
  readonly prune: boolean;
}

interface Asked {
  readonly entry: Entry;
  readonly pointer: string;
}

const entitlementItemSchema = createBulkEntitlementsSchema.shape.items.element;

/** The events that make an offer as an entry says, each decided on what the ones before led to. */
export class OfferPlan {
  readonly events: OfferEvent[] = [];
  readonly details: string[] = [];
  readonly #around: OfferSurroundings;
  readonly #owner: Owner;
  #state: OfferState;

  constructor(kind: OfferKind, id: string, state: OfferState, around: OfferSurroundings) {
    this.#around = around;
    this.#owner = { entity_type: kind.type, entity_id: id };
    this.#state = state;
  }

  /** Decides and goes on from there. Gives whether anything followed. */
  run(decision: OfferDecision): boolean {
    const { at, stamp } = this.#around;
    const events = decision(this.#state, at);
    for (const event of events) {
      this.#state = offer.evolve(this.#state, { ...event, stamp } as Stamped<OfferEvent>);
      this.events.push(event);
    }
    return events.length > 0;
  }

  #note(detail: string, decision: OfferDecision): void {
    if (this.run(decision)) this.details.push(detail);
  }

  get #offer(): Offer {
    invariant(this.#state, 'an offer is made before what it owns');
    return this.#state;
  }

  /** Prices: by lookup_key, else by everything that they say. What ends does so before others begin. */
  prices(asked: readonly Asked[]): void {
    const { names, at, faults, prune } = this.#around;
    const current = new Map(
      currentPrices(this.#offer, at).map((price) => [
        price.id as string,
        { price, entry: priceEntry(price, names, at) },
      ]),
    );
    const wanted = asked.flatMap(({ entry, pointer }) => {
      const draft = faults.at(pointer, () => this.#priceDraft(entry, pointer));
      return draft ? [{ draft, pointer, entry: priceEntry(draft, names, at) }] : [];
    });
    const created: { draft: PriceDraft; pointer: string }[] = [];
    for (const { draft, pointer, entry } of wanted) {
      const same = [...current.values()].find((other) =>
        draft.lookup_key === null
          ? canonicalJson(other.entry) === canonicalJson(entry)
          : other.price.lookup_key === draft.lookup_key,
      );
      if (!same) {
        created.push({ draft, pointer });
        this.details.push(`price ${labelOf(entry)}: created`);
        continue;
      }
      current.delete(same.price.id);
      const different = differences(same.entry, entry);
      if (different.every((name) => priceLabels.includes(name))) {
        this.#relabel(same.price.id, draft, { pointer, entry });
      } else {
        faults.at(pointer, () => this.run(endPrice(same.price.id, null)));
        const parent_price_id = same.price.parent_price_id ?? same.price.id;
        created.push({ draft: { ...draft, parent_price_id }, pointer });
        this.details.push(`price ${labelOf(entry)}: ${different.join(', ')}`);
      }
    }
    for (const { price, entry } of prune ? current.values() : []) {
      this.#note(`price ${labelOf(entry)}: ended`, endPrice(price.id, null));
    }
    this.#createPrices(created);
  }

  #relabel(id: PriceId, draft: PriceDraft, { pointer, entry }: Asked): void {
    const { lookup_key, display_name, description, group_id, metadata } = draft;
    const labels = { lookup_key, display_name, description, group_id, metadata };
    this.#around.faults.at(pointer, () =>
      this.#note(
        `price ${labelOf(entry)}: texts`,
        updatePrice(id, labels as typeof labels & { group_id: GroupId | null }),
      ),
    );
  }

  #createPrices(created: readonly { draft: PriceDraft; pointer: string }[]): void {
    if (created.length === 0) return;
    const drafts = created.map(({ draft }) => draft);
    const pointers = created.map(({ pointer }) => pointer);
    const { faults } = this.#around;
    faults.at(pointers[0] ?? '', () => this.run(createPrices(this.#owner, drafts, pointers)));
  }

  #priceDraft(entry: Entry, pointer: string): PriceDraft {
    const { names, faults, records, at } = this.#around;
    refuseUnknown(entry, [...priceFields, ...Object.keys(priceReferences)], { faults, pointer });
    const fields = withIds(entry, priceReferences, { names, faults, pointer });
    const request = createPriceSchema.parse({ ...fields, ...this.#owner });
    if (request.end_date && request.end_date <= at) faults.add(`${pointer}/end_date`, 'is over');
    const group = records.get(request.group_id ?? '') as { entity_type?: string } | undefined;
    if (group && group.entity_type !== 'price') {
      faults.add(`${pointer}/group`, 'is no group of prices');
    }
    const code = request.price_unit_config?.price_unit;
    if (code === undefined) return priceDraft(request, this.#owner, null, pointer);
    const unitId = names.pricing_units.idOf(code.toLowerCase()) ?? '';
    const unit = records.get(unitId) as PriceUnitRecord | undefined;
    const unitPointer = `${pointer}/price_unit_config/price_unit`;
    if (!unit) faults.add(unitPointer, 'names nothing in pricing_units');
    else if (unit.base_currency !== request.currency) {
      faults.add(`${pointer}/currency`, `the pricing unit is in ${unit.base_currency}`);
    }
    return priceDraft(request, this.#owner, unit ?? null, pointer);
  }

  /** Entitlements: one per feature. */
  entitlements(asked: readonly Asked[]): void {
    const { names, faults, prune } = this.#around;
    const wanted = asked.flatMap(({ entry, pointer }) => {
      const draft = faults.at(pointer, () => this.#entitlementDraft(entry, pointer));
      return draft ? [{ draft, pointer, entry: entitlementEntry(draft, names) }] : [];
    });
    const kept = new Set<string>(wanted.map(({ draft }) => draft.feature_id));
    for (const { id, ...gone } of prune ? this.#offer.entitlements : []) {
      if (kept.has(gone.feature_id)) continue;
      const { feature } = entitlementEntry(gone, names);
      this.#note(`entitlement ${feature}: deleted`, deleteEntitlement(id));
    }
    const seen = new Set<string>();
    for (const { draft, pointer, entry } of wanted) {
      const { feature_id, start_date, end_date } = draft;
      if (seen.has(feature_id)) faults.add(`${pointer}/feature`, 'is there twice');
      seen.add(feature_id);
      const before = this.#offer.entitlements.find((each) => each.feature_id === feature_id);
      const label = `entitlement ${entry.feature}`;
      const isDatedAlike = before?.start_date === start_date && before.end_date === end_date;
      faults.at(pointer, () => {
        if (before && isDatedAlike) {
          const different = differences(entitlementEntry(before, names), entry);
          this.#note(`${label}: ${different.join(', ')}`, updateEntitlement(before.id, draft));
          return;
        }
        if (before) this.run(deleteEntitlement(before.id));
        const done = before ? 'dates' : 'created';
        this.#note(`${label}: ${done}`, createEntitlements(this.#owner, [draft]));
      });
    }
  }

  #entitlementDraft(entry: Entry, pointer: string) {
    const { names, faults, records } = this.#around;
    const known = [...entitlementFields, ...Object.keys(entitlementReferences)];
    refuseUnknown(entry, known, { faults, pointer });
    const fields = withIds(entry, entitlementReferences, { names, faults, pointer });
    if (fields.feature_id === undefined) {
      if (entry.feature === undefined) faults.add(`${pointer}/feature`, 'is required');
      return undefined;
    }
    const request = entitlementItemSchema.parse({ ...fields, ...this.#owner });
    const granted = records.get(request.feature_id) as FeatureRecord | undefined;
    if (!granted) return undefined;
    return entitlementDraft(request, this.#owner, granted.type, pointer);
  }

  /** Credit grants: by name. Only name and metadata can change; for all else another one is made. */
  creditGrants(asked: readonly Asked[]): void {
    const { faults, prune } = this.#around;
    const ownerField = this.#owner.entity_type === 'ADDON' ? 'addon_id' : 'plan_id';
    const current = new Map(currentGrants(this.#offer).map((grant) => [grant.id as string, grant]));
    const created: { pointer: string; decision: OfferDecision }[] = [];
    for (const { entry, pointer } of asked) {
      refuseUnknown(entry, grantFields, { faults, pointer });
      const request = faults.at(pointer, () =>
        createCreditGrantSchema.parse({
          ...entry,
          scope: this.#owner.entity_type,
          [ownerField]: this.#owner.entity_id,
        }),
      );
      if (!request) continue;
      const before = [...current.values()].find(({ name }) => name === request.name);
      const decision = createCreditGrant(this.#owner, ownerField, request);
      const label = `credit grant ${request.name}`;
      if (!before) {
        created.push({ pointer, decision });
        this.details.push(`${label}: created`);
        continue;
      }
      current.delete(before.id);
      const asMade = decision({ ...this.#offer, credit_grants: [] }, this.#around.at)[0]?.data;
      const different = differences(grantEntry(before), grantEntry(asMade as typeof before));
      if (different.every((name) => name === 'metadata')) {
        const metadata = request.metadata ?? {};
        this.#note(
          `${label}: metadata`,
          updateCreditGrant(before.id as CreditGrantId, { metadata }),
        );
      } else {
        this.run(endCreditGrant(before.id, null));
        created.push({ pointer, decision });
        this.details.push(`${label}: ${different.join(', ')}`);
      }
    }
    for (const { id, name } of prune ? current.values() : []) {
      this.#note(`credit grant ${name}: ended`, endCreditGrant(id, null));
    }
    for (const { pointer, decision } of created) faults.at(pointer, () => this.run(decision));
  }
}

const labelOf = ({ lookup_key, display_name, meter, type }: Entry): string =>
  String(lookup_key ?? display_name ?? meter ?? type);
