import type { Instant } from '@counterfoil/kernel';
import { canonicalJson } from '@counterfoil/kernel';
import {
  type CreditGrantData,
  type EntitlementData,
  type Offer,
  type PriceDraft,
  willBeInForce,
} from '../offers/index.ts';
import { type AllNames, entryOf, withoutEmpty } from './entry.ts';
import { inTextOrder } from './keys.ts';
import { only, type Reference } from './kinds.ts';
import type { Entry } from './schema.ts';

export const priceReferences = {
  meter: { section: 'meters', field: 'meter_id' },
  group: { section: 'groups', field: 'group_id' },
} as const satisfies Record<string, Reference>;

export const entitlementReferences = {
  feature: { section: 'features', field: 'feature_id' },
} as const satisfies Record<string, Reference>;

export const priceFields = [
  'type',
  'currency',
  'billing_model',
  'billing_period',
  'billing_period_count',
  'billing_cadence',
  'invoice_cadence',
  'tax_behavior',
  'amount',
  'tier_mode',
  'tiers',
  'transform_quantity',
  'min_quantity',
  'trial_period_days',
  'price_unit_type',
  'price_unit_config',
  'lookup_key',
  'display_name',
  'description',
  'metadata',
  'start_date',
  'end_date',
] as const;

/** The fields that may change without making another price. */
export const priceLabels = ['lookup_key', 'display_name', 'description', 'metadata', 'group'];

export const entitlementFields = [
  'is_enabled',
  'is_soft_limit',
  'static_value',
  'usage_limit',
  'usage_reset_period',
  'start_date',
  'end_date',
] as const;

export const grantFields = [
  'name',
  'credits',
  'cadence',
  'period',
  'period_count',
  'expiration_type',
  'expiration_duration',
  'expiration_duration_unit',
  'priority',
  'conversion_rate',
  'topup_conversion_rate',
  'metadata',
  'end_date',
] as const;

/** A price without the amounts that follow in its currency, and without a start that has passed. */
export function priceEntry(price: PriceDraft, names: AllNames, at: Instant): Entry {
  const { price_unit: unit, meter_id, group_id, start_date } = price;
  const inUnit = unit && {
    amount: null,
    tiers: null,
    price_unit_type: 'CUSTOM',
    price_unit_config: {
      price_unit: unit.code,
      amount: unit.amount,
      price_unit_tiers: unit.tiers,
    },
  };
  const fields = {
    ...only(price, priceFields),
    ...inUnit,
    meter_id,
    group_id,
    start_date: start_date !== null && start_date > at ? start_date : null,
  };
  return entryOf(fields, priceReferences, names);
}

export const entitlementEntry = (
  entitlement: Omit<EntitlementData, 'id'>,
  names: AllNames,
): Entry =>
  entryOf(
    { ...only(entitlement, entitlementFields), feature_id: entitlement.feature_id },
    entitlementReferences,
    names,
  );

export const grantEntry = (grant: Omit<CreditGrantData, 'id'>): Entry =>
  withoutEmpty(only(grant, grantFields));

/** The prices of an offer that are in force or will be. */
export const currentPrices = ({ prices }: Offer, at: Instant) =>
  prices.filter((price) => price.status === 'published' && willBeInForce(price, at));

/** The credit grants of an offer that have not ended. */
export const currentGrants = ({ credit_grants }: Offer, at: Instant) =>
  credit_grants.filter(
    ({ status, end_date }) => status === 'published' && (end_date === null || end_date > at),
  );

/** An offer with all that it owns, in an order that follows from the records themselves. */
export function offerEntry(
  offer: Offer,
  fields: readonly string[],
  { names, at }: { readonly names: AllNames; readonly at: Instant },
): Entry {
  return withoutEmpty({
    ...only(offer.root.record, fields),
    prices: inOrder(currentPrices(offer, at).map((price) => priceEntry(price, names, at))),
    entitlements: inOrder(offer.entitlements.map((each) => entitlementEntry(each, names))),
    credit_grants: inOrder(currentGrants(offer, at).map(grantEntry)),
  });
}

/** By their names, then by their starts, and those without a name by all their fields. */
function inOrder(entries: readonly Entry[]): readonly Entry[] {
  const placeOf = ({ lookup_key, feature, name, start_date, ...rest }: Entry): string =>
    `${lookup_key ?? feature ?? name ?? '\uffff'}\n${start_date ?? ''}\n${canonicalJson(rest)}`;
  return entries
    .map((entry) => ({ entry, place: placeOf(entry) }))
    .sort((left, right) => inTextOrder(left.place, right.place))
    .map(({ entry }) => entry);
}
