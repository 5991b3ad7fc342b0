import {
  aggregate,
  type Decision,
  type EventOf,
  existing,
  type Instant,
  invariant,
  notFound,
  type Reference,
  type Stamp,
  type Stamped,
  type UniqueValue,
  writable,
} from '@counterfoil/kernel';
import {
  type EntitlementEvent,
  type EntitlementRecord,
  entitlementAfter,
  entitlementEvents,
} from './entitlement/entitlement.ts';
import {
  type CreditGrantEvent,
  type CreditGrantRecord,
  creditGrantAfter,
  creditGrantEvents,
} from './grant/credit-grant.ts';
import { type Owner, type OwnerType, ownerNames } from './owner.ts';
import {
  type PriceEvent,
  type PriceRecord,
  priceAfter,
  priceEvents,
  willBeInForce,
} from './price/price.ts';
import { closedRecord, type Kept, recordWith, withRecord } from './records.ts';
import {
  type AddonEvent,
  type AddonRecord,
  addonRoot,
  type CostsheetEvent,
  type CostsheetRecord,
  costsheetRoot,
  type PlanEvent,
  type PlanRecord,
  planRoot,
} from './root/roots.ts';

const events = {
  ...planRoot.events,
  ...addonRoot.events,
  ...costsheetRoot.events,
  ...priceEvents,
  ...entitlementEvents,
  ...creditGrantEvents,
} as const;
export type OfferEvent = EventOf<typeof events>;

/** The offer itself, without what it owns. */
export type Root =
  | { readonly kind: 'PLAN'; readonly record: PlanRecord }
  | { readonly kind: 'ADDON'; readonly record: AddonRecord }
  | { readonly kind: 'COSTSHEET'; readonly record: CostsheetRecord };

export interface Offer {
  readonly root: Root;
  /** All prices that ever were, in the order in which they were made. */
  readonly prices: readonly PriceRecord[];
  /** Those that are not deleted. */
  readonly entitlements: readonly EntitlementRecord[];
  readonly credit_grants: readonly CreditGrantRecord[];
  /** The number of records that the offer has ever had; the next one's id follows from it. */
  readonly made: number;
}

/** Null until the plan, add-on or costsheet is created. */
export type OfferState = Offer | null;

export type OfferDecision = Decision<OfferState, OfferEvent>;

/**
 * An offer, which is sold or priced as a whole: a plan, an add-on or a costsheet, together with the
 * prices, entitlements and credit grants that it owns (ADR 13).
 */
export const offer = aggregate({
  name: 'offer',
  scope: 'environment',
  events,
  initial: null as OfferState,
  evolve: (state, event): OfferState => {
    switch (event.type) {
      case 'PlanCreated':
      case 'PlanUpdated':
      case 'PlanArchived':
        return withRoot(
          state,
          { kind: 'PLAN', record: planRoot.after(planOf(state), event) },
          event,
        );
      case 'AddonCreated':
      case 'AddonUpdated':
      case 'AddonArchived':
        return withRoot(
          state,
          { kind: 'ADDON', record: addonRoot.after(addonOf(state), event) },
          event,
        );
      case 'CostsheetCreated':
      case 'CostsheetUpdated':
      case 'CostsheetDeleted': {
        const record = costsheetRoot.after(costsheetOf(state), event);
        return withRoot(state, { kind: 'COSTSHEET', record }, event);
      }
      case 'PriceCreated':
      case 'PriceUpdated':
      case 'PriceEnded':
        return withPrice(existing(state, 'offer'), event);
      case 'EntitlementCreated':
      case 'EntitlementUpdated':
      case 'EntitlementDeleted':
        return withEntitlement(existing(state, 'offer'), event);
      case 'CreditGrantCreated':
      case 'CreditGrantUpdated':
      case 'CreditGrantEnded':
        return withCreditGrant(existing(state, 'offer'), event);
      default:
        return event satisfies never;
    }
  },
  refersTo: (state, at) => (state?.root.record.status === 'published' ? usedBy(state, at) : []),
  /**
   * A record that is out of use gives all its keys back; a price does so when it has ended for
   * good.
   */
  unique: (state) =>
    state?.root.record.status === 'published' ? priceKeys(state).concat(rootKeys(state.root)) : [],
});

/** Returns what entitlements, and prices in force or to come, refer to, each once. */
function usedBy({ prices, entitlements }: Offer, at: Instant): readonly Reference[] {
  const used = new Map<string, Reference>();
  const add = (category: string, id: string | null | undefined, what = category): void => {
    if (id) used.set(id, { category, id, what });
  };
  for (const price of prices) {
    if (!willBeInForce(price, at)) continue;
    add('meter', price.meter_id);
    add('group', price.group_id);
    add('price_unit', price.price_unit?.id, 'pricing unit');
  }
  for (const { feature_id } of entitlements) add('feature', feature_id);
  return [...used.values()];
}

/** The plan of an offer; null when it is none. */
export const planOf = (state: OfferState): PlanRecord | null =>
  state?.root.kind === 'PLAN' ? state.root.record : null;

/** The add-on of an offer; null when it is none. */
export const addonOf = (state: OfferState): AddonRecord | null =>
  state?.root.kind === 'ADDON' ? state.root.record : null;

/** The costsheet of an offer; null when it is none. */
export const costsheetOf = (state: OfferState): CostsheetRecord | null =>
  state?.root.kind === 'COSTSHEET' ? state.root.record : null;

type RootEvent = Stamped<PlanEvent> | Stamped<AddonEvent> | Stamped<CostsheetEvent>;

function withRoot(state: OfferState, root: Root, event: RootEvent): Offer {
  if (!state) return { root, prices: [], entitlements: [], credit_grants: [], made: 0 };
  switch (event.type) {
    case 'PlanArchived':
    case 'AddonArchived':
    case 'CostsheetDeleted':
      return outOfUse({ ...state, root }, event);
    default:
      return { ...state, root };
  }
}

/** Applies the end of an offer: what goes out of use has the status of its offer. */
function outOfUse(state: Offer, { data, stamp }: RootEvent): Offer {
  invariant('prices' in data, 'an offer goes out of use together with what it owns');
  const { status } = state.root.record;
  const closed = <Item extends Kept & { readonly id: string }>(
    items: readonly Item[],
    ids: readonly string[],
  ): readonly Item[] => {
    const taken = new Set(ids);
    return items.map((item) => (taken.has(item.id) ? closedRecord(item, status, stamp) : item));
  };
  return {
    ...state,
    prices: closed(state.prices, data.prices),
    entitlements: closed(state.entitlements, data.entitlements),
    credit_grants: closed(state.credit_grants, data.credit_grants),
  };
}

function withPrice(state: Offer, event: Stamped<PriceEvent>): Offer {
  const { prices } = state;
  if (event.type === 'PriceCreated') {
    return { ...state, prices: prices.concat(priceAfter(null, event)), made: state.made + 1 };
  }
  const price = priceAfter(recordWith(prices, event.data.id), event);
  return { ...state, prices: withoutPast(withRecord(prices, price), price, event.stamp) };
}

/**
 * The prices of one chain hold their lookup_key together. When something happens to one of them, those
 * whose time is over let go of it; decisions have no other clock.
 */
function withoutPast(
  prices: readonly PriceRecord[],
  { id, parent_price_id }: PriceRecord,
  { occurred_at }: Stamp,
): readonly PriceRecord[] {
  const chain = parent_price_id ?? id;
  const isPast = (price: PriceRecord): boolean =>
    (price.parent_price_id ?? price.id) === chain &&
    price.id !== id &&
    !price.is_final &&
    price.end_date !== null &&
    price.end_date <= occurred_at;
  if (!prices.some(isPast)) return prices;
  return prices.map((price) => (isPast(price) ? { ...price, is_final: true } : price));
}

function withEntitlement(state: Offer, event: Stamped<EntitlementEvent>): Offer {
  const { entitlements } = state;
  const entitlement = entitlementAfter(recordWith(entitlements, event.data.id), event);
  switch (event.type) {
    case 'EntitlementCreated':
      return { ...state, entitlements: [...entitlements, entitlement], made: state.made + 1 };
    case 'EntitlementUpdated':
      return { ...state, entitlements: withRecord(entitlements, entitlement) };
    case 'EntitlementDeleted':
      return { ...state, entitlements: entitlements.filter(({ id }) => id !== event.data.id) };
    default:
      return event satisfies never;
  }
}

function withCreditGrant(state: Offer, event: Stamped<CreditGrantEvent>): Offer {
  const { credit_grants } = state;
  const grant = creditGrantAfter(recordWith(credit_grants, event.data.id), event);
  if (event.type !== 'CreditGrantCreated') {
    return { ...state, credit_grants: withRecord(credit_grants, grant) };
  }
  return { ...state, credit_grants: [...credit_grants, grant], made: state.made + 1 };
}

const uniqueNames = {
  PLAN: 'plan_lookup_key',
  ADDON: 'addon_lookup_key',
  COSTSHEET: 'costsheet_lookup_key',
} as const satisfies Record<OwnerType, string>;

function rootKeys({ kind, record: { lookup_key } }: Root): readonly UniqueValue[] {
  if (lookup_key === null) return [];
  const problem = `Another ${ownerNames[kind]} has the lookup_key ${JSON.stringify(lookup_key)}.`;
  return [{ name: uniqueNames[kind], field: 'lookup_key', value: lookup_key, problem }];
}

/** The key of each price, made once: the engine asks for all keys after every single event. */
const keysOfPrices = new WeakMap<PriceRecord, UniqueValue>();

function priceKeys({ prices }: Offer): readonly UniqueValue[] {
  const keys = new Map<string, UniqueValue>();
  for (const price of prices) {
    const { lookup_key, is_final } = price;
    if (lookup_key === null || is_final || keys.has(lookup_key)) continue;
    const key = keysOfPrices.get(price) ?? priceKey(lookup_key);
    keysOfPrices.set(price, key);
    keys.set(lookup_key, key);
  }
  return [...keys.values()];
}

const priceKey = (lookupKey: string): UniqueValue => ({
  name: 'price_lookup_key',
  field: 'lookup_key',
  value: lookupKey,
  problem: priceKeyTaken(lookupKey),
});

/** The message for a caller who wants the lookup_key of another price. */
export const priceKeyTaken = (lookupKey: string): string =>
  `Another price has the lookup_key "${lookupKey}". End that one first.`;

/**
 * The offer that is to own something new. None of this kind: 404 naming the field; archived: 400.
 * `field` is what the request calls the id.
 */
export function writableOffer(state: OfferState, owner: Owner, field = 'entity_id'): Offer {
  const { entity_type, entity_id } = owner;
  const what = ownerNames[entity_type];
  const isThere = state?.root.kind === entity_type && state.root.record.status !== 'deleted';
  if (!state || !isThere) throw notFound(what, entity_id, field);
  writable(state.root.record, what, entity_id);
  return state;
}

/** The record of an offer that is to be changed: 404 when it is gone, 400 when it is archived. */
export function writableChild<
  Item extends Parameters<typeof writable>[0] & { readonly id: string },
>(items: readonly Item[] | undefined, what: string, id: string): Item {
  const found = items?.find((item) => item.id === id) ?? null;
  writable(found, what, id);
  if (!found) throw notFound(what, id);
  return found;
}
