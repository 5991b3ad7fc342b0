import {
  type CatalogKind,
  catalogRecords,
  couponBody,
  featureBody,
  groupBody,
  meterBody,
  priceUnitBody,
  taxAssociationBody,
  taxRateBody,
} from './catalog-records.ts';
import type { Example } from './example.ts';
import { offerExamples } from './offer-examples.ts';

/** An operation on the record of a kind that its path names. */
const onOne = (kind: CatalogKind, body?: unknown): Example => ({
  request: async (own) => ({
    path: { id: await catalogRecords[kind](own) },
    ...(body === undefined ? {} : { body }),
  }),
  names: { 'path.id': kind },
});

const meters: Readonly<Record<string, Example>> = {
  'POST /meters': { request: (own) => ({ body: meterBody(own) }) },
  'GET /meters': { request: () => ({}), filters: { 'query.meter_ids': 'meter' } },
  'POST /meters/search': { request: () => ({}), filters: { 'body.meter_ids': 'meter' } },
  'GET /meters/{id}': onOne('meter'),
  'PUT /meters/{id}': onOne('meter', { filters: [{ key: 'model', values: ['large'] }] }),
  'POST /meters/{id}/disable': onOne('meter'),
  'DELETE /meters/{id}': onOne('meter'),
};

const groups: Readonly<Record<string, Example>> = {
  'POST /groups': { request: (own) => ({ body: groupBody(own) }) },
  'GET /groups': { request: () => ({}), filters: { 'query.group_ids': 'group' } },
  'POST /groups/search': { request: () => ({}), filters: { 'body.group_ids': 'group' } },
  'GET /groups/{id}': onOne('group'),
  'DELETE /groups/{id}': onOne('group'),
};

const pricingUnits: Readonly<Record<string, Example>> = {
  'POST /prices/units': { request: (own) => ({ body: priceUnitBody(own) }) },
  'GET /prices/units': { request: () => ({}), filters: { 'query.price_unit_ids': 'price_unit' } },
  'POST /prices/units/search': {
    request: () => ({}),
    filters: { 'body.price_unit_ids': 'price_unit' },
  },
  'GET /prices/units/code/{code}': {
    request: async (own) => ({ path: { code: await catalogRecords.price_unit_code(own) } }),
    names: { 'path.code': 'price_unit_code' },
  },
  'GET /prices/units/{id}': onOne('price_unit'),
  'PUT /prices/units/{id}': onOne('price_unit', { name: 'Renamed' }),
  'DELETE /prices/units/{id}': onOne('price_unit'),
};

const features: Readonly<Record<string, Example>> = {
  'POST /features': {
    request: (own) => ({ body: featureBody(own) }),
    names: { 'body.group_id': 'group' },
    texts: ['body.meter_id'],
  },
  'GET /features': {
    request: () => ({}),
    filters: { 'query.feature_ids': 'feature', 'query.meter_ids': 'meter' },
  },
  'POST /features/search': {
    request: () => ({}),
    filters: { 'body.feature_ids': 'feature', 'body.meter_ids': 'meter' },
  },
  'GET /features/{id}': onOne('feature'),
  'PUT /features/{id}': {
    ...onOne('feature', { description: 'Changed', filters: [] }),
    names: { 'path.id': 'feature', 'body.group_id': 'group' },
  },
  'POST /features/{id}/clone': onOne('feature', {}),
  'DELETE /features/{id}': onOne('feature'),
};

const coupons: Readonly<Record<string, Example>> = {
  'POST /coupons': { request: (own) => ({ body: couponBody(own) }) },
  'GET /coupons': {
    request: () => ({}),
    filters: { 'query.coupon_ids': 'coupon', 'query.coupon_codes': 'coupon_code' },
  },
  'POST /coupons/search': {
    request: () => ({}),
    filters: { 'body.coupon_ids': 'coupon', 'body.coupon_codes': 'coupon_code' },
  },
  'GET /coupons/code/{code}': {
    request: async (own) => ({ path: { code: await catalogRecords.coupon_code(own) } }),
    names: { 'path.code': 'coupon_code' },
  },
  'GET /coupons/{id}': onOne('coupon'),
  'PUT /coupons/{id}': onOne('coupon', { name: 'Renamed' }),
  'DELETE /coupons/{id}': onOne('coupon'),
};

const taxes: Readonly<Record<string, Example>> = {
  'POST /taxes/rates': { request: (own) => ({ body: taxRateBody(own) }) },
  'GET /taxes/rates': {
    request: () => ({}),
    filters: { 'query.taxrate_ids': 'tax_rate', 'query.taxrate_codes': 'tax_rate_code' },
  },
  'GET /taxes/rates/{id}': onOne('tax_rate'),
  'PUT /taxes/rates/{id}': onOne('tax_rate', { tax_rate_status: 'INACTIVE' }),
  'DELETE /taxes/rates/{id}': onOne('tax_rate'),
  'POST /taxes/associations': {
    request: async (own) => ({ body: await taxAssociationBody(own) }),
    names: {
      'body.tax_rate_code': 'tax_rate_code',
      'body.entity_id': 'customer',
      'body.external_customer_id': 'external_id',
    },
  },
  'GET /taxes/associations': {
    request: () => ({}),
    filters: {
      'query.entity_id': 'customer',
      'query.external_customer_id': 'external_id',
      'query.tax_rate_id': 'tax_rate',
    },
  },
  'GET /taxes/associations/{id}': onOne('tax_association'),
  'PUT /taxes/associations/{id}': onOne('tax_association', { priority: 7 }),
  'DELETE /taxes/associations/{id}': onOne('tax_association'),
};

const transfer: Readonly<Record<string, Example>> = {
  'GET /catalog/export': { request: () => ({}) },
  'POST /catalog/import': {
    request: (own) => ({ body: { document: { version: 1, groups: [groupBody(own)] } } }),
  },
  'GET /catalog/imports/{id}': onOne('catalog_import'),
};

/** An example for every operation of the catalogue. */
export const catalogExamples: Readonly<Record<string, Example>> = {
  ...meters,
  ...groups,
  ...pricingUnits,
  ...features,
  ...coupons,
  ...taxes,
  ...transfer,
  ...offerExamples,
};
