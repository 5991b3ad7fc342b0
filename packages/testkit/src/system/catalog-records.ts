import { offerMakers } from './offer-records.ts';
import type { Records } from './records.ts';

/** Makes what names a new record of the catalogue, by kind. */
const makers = {
  meter: async (own: Records): Promise<string> => (await own.create('/meters', meterBody(own))).id,
  group: async (own: Records): Promise<string> => (await own.create('/groups', groupBody(own))).id,
  price_unit: async (own: Records): Promise<string> => (await priceUnit(own)).id,
  feature: async (own: Records): Promise<string> =>
    (await own.create('/features', featureBody(own))).id,
  price_unit_code: async (own: Records): Promise<string> => (await priceUnit(own)).code,
  coupon: async (own: Records): Promise<string> => (await coupon(own)).id,
  coupon_code: async (own: Records): Promise<string> => (await coupon(own)).coupon_code,
  tax_rate: async (own: Records): Promise<string> => (await taxRate(own)).id,
  tax_rate_code: async (own: Records): Promise<string> => (await taxRate(own)).code,
  tax_association: async (own: Records): Promise<string> =>
    (await own.create('/taxes/associations', await taxAssociationBody(own))).id,
  catalog_import: async (own: Records): Promise<string> =>
    (await own.create('/catalog/import', { document: { version: 1, groups: [groupBody(own)] } }))
      .id,
  ...offerMakers,
} as const;

const taxRate = (own: Records): Promise<{ id: string; code: string }> =>
  own.create('/taxes/rates', taxRateBody(own));

const coupon = (own: Records): Promise<{ id: string; coupon_code: string }> =>
  own.create('/coupons', couponBody(own));

const priceUnit = (own: Records): Promise<{ id: string; code: string }> =>
  own.create('/prices/units', priceUnitBody(own));

/** The kinds of the catalogue that a place of a request can name. */
export type CatalogKind = keyof typeof makers;

export const catalogKinds = Object.keys(makers) as CatalogKind[];

/** Makes records of the catalogue for one key, each time a new one. */
export const catalogRecords: Readonly<Record<CatalogKind, (own: Records) => Promise<string>>> =
  makers;

/** The body of a request for a new meter. */
export const meterBody = (own: Records) => ({
  name: own.text('meter'),
  event_name: own.text('event'),
  aggregation: { type: 'SUM', field: 'tokens' },
});

/** The body of a request for a new group of features. */
export const groupBody = (own: Records) => ({
  name: own.text('group'),
  lookup_key: own.text('group-key'),
  entity_type: 'feature',
});

/** The body of a request for a new metered feature, with its meter. */
export const featureBody = (own: Records) => ({
  name: own.text('feature'),
  type: 'metered',
  lookup_key: own.text('feature-key'),
  meter: meterBody(own),
});

/** The body of a request for a new coupon. */
export const couponBody = (own: Records) => ({
  name: own.text('coupon'),
  coupon_code: own.text('coupon-code'),
  type: 'percentage',
  percentage_off: '10',
  cadence: 'once',
});

/** The body of a request for a new tax rate. */
export const taxRateBody = (own: Records) => ({
  name: own.text('tax'),
  code: own.text('tax-code'),
  percentage_value: '19',
});

/** The body of a request that attaches a new tax rate to a new customer. */
export const taxAssociationBody = async (own: Records) => ({
  tax_rate_code: (await taxRate(own)).code,
  entity_type: 'customer',
  entity_id: (await own.customer()).id,
});

/** The body of a request for a new pricing unit. */
export const priceUnitBody = (own: Records) => ({
  name: own.text('unit'),
  code: own.text('unit'),
  symbol: 'cr',
  base_currency: 'usd',
  conversion_rate: '0.01',
});
