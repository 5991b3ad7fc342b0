import type { Example, Place } from './example.ts';
import {
  addonBody,
  costsheetBody,
  creditGrantBody,
  entitlementBody,
  offerMakers,
  planBody,
  priceBody,
} from './offer-records.ts';
import type { Kind, Records } from './records.ts';

type OfferKind = keyof typeof offerMakers;

const nothing: Example['request'] = () => ({});

/** An operation on the record of a kind that its path names. */
const onOne = (kind: OfferKind, body?: (own: Records) => unknown): Example => ({
  request: async (own) => ({
    path: { id: await offerMakers[kind](own) },
    ...(body && { body: body(own) }),
  }),
  names: { 'path.id': kind },
});

const byKey = (kind: 'price_key' | 'addon_key'): Example => ({
  request: async (own) => ({ path: { lookup_key: await offerMakers[kind](own) } }),
  names: { 'path.lookup_key': kind },
});

/** The filters of a list in its query and of the search in its body. */
const filtered = (
  part: 'query' | 'body',
  kinds: Readonly<Record<string, Kind>>,
  texts: readonly string[] = [],
): Example => ({
  request: nothing,
  filters: Object.fromEntries(
    Object.entries(kinds).map(([name, kind]) => [`${part}.${name}` as Place, kind]),
  ),
  texts: texts.map((name) => `${part}.${name}` as Place),
});

const clone = (own: Records) => ({ name: own.text('clone'), lookup_key: own.text('clone-key') });

const plans: Readonly<Record<string, Example>> = {
  'POST /plans': { request: (own) => ({ body: planBody(own) }) },
  'GET /plans': filtered('query', { plan_ids: 'plan' }),
  'POST /plans/search': filtered('body', { plan_ids: 'plan' }),
  'GET /plans/{id}': onOne('plan'),
  'PUT /plans/{id}': onOne('plan', (own) => ({ description: own.text('changed') })),
  'DELETE /plans/{id}': onOne('plan'),
  'POST /plans/{id}/clone': onOne('plan', clone),
  'GET /plans/{id}/entitlements': onOne('plan'),
  'GET /plans/{id}/creditgrants': onOne('plan'),
};

const priceFilters = {
  price_ids: 'price',
  plan_ids: 'plan',
  entity_ids: 'plan',
  meter_ids: 'meter',
  parent_price_id: 'price',
} as const satisfies Record<string, Kind>;

const prices: Readonly<Record<string, Example>> = {
  'POST /prices': {
    request: async (own) => ({ body: priceBody(own, await offerMakers.plan(own)) }),
    names: { 'body.entity_id': 'plan', 'body.group_id': 'group' },
    // A fixed price has no meter, whoever's it is.
    texts: ['body.meter_id'],
  },
  'POST /prices/bulk': {
    request: async (own) => ({ body: { items: [priceBody(own, await offerMakers.plan(own))] } }),
    names: { 'body.items.0.entity_id': 'plan', 'body.items.0.group_id': 'group' },
    texts: ['body.items.0.meter_id'],
  },
  'GET /prices': filtered('query', priceFilters, ['subscription_id']),
  'POST /prices/search': filtered('body', priceFilters, ['subscription_id']),
  'GET /prices/lookup/{lookup_key}': byKey('price_key'),
  'GET /prices/{id}': onOne('price'),
  'PUT /prices/{id}': {
    ...onOne('price', () => ({ amount: '13' })),
    names: { 'path.id': 'price', 'body.group_id': 'group' },
  },
  'DELETE /prices/{id}': onOne('price', () => ({})),
  'POST /prices/{id}/quote': onOne('price', () => ({ quantity: '3' })),
};

const entitlementFilters = {
  entity_ids: 'plan',
  plan_ids: 'plan',
  feature_ids: 'feature',
} as const satisfies Record<string, Kind>;

const entitlements: Readonly<Record<string, Example>> = {
  'POST /entitlements': {
    request: async (own) => ({ body: await entitlementBody(own) }),
    names: {
      'body.feature_id': 'feature',
      'body.entity_id': 'plan',
      'body.parent_entitlement_id': 'entitlement',
    },
    // It must agree with entity_id.
    texts: ['body.plan_id'],
  },
  'POST /entitlements/bulk': {
    request: async (own) => ({ body: { items: [await entitlementBody(own)] } }),
    names: {
      'body.items.0.feature_id': 'feature',
      'body.items.0.entity_id': 'plan',
      'body.items.0.parent_entitlement_id': 'entitlement',
    },
    texts: ['body.items.0.plan_id'],
  },
  'GET /entitlements': filtered('query', entitlementFilters),
  'POST /entitlements/search': filtered('body', entitlementFilters),
  'GET /entitlements/{id}': onOne('entitlement'),
  'PUT /entitlements/{id}': onOne('entitlement', () => ({ is_enabled: false })),
  'DELETE /entitlements/{id}': onOne('entitlement'),
};

const addons: Readonly<Record<string, Example>> = {
  'POST /addons': { request: (own) => ({ body: addonBody(own) }) },
  'GET /addons': filtered('query', { addon_ids: 'addon' }),
  'POST /addons/search': filtered('body', { addon_ids: 'addon' }),
  'GET /addons/lookup/{lookup_key}': byKey('addon_key'),
  'GET /addons/{id}': onOne('addon'),
  'PUT /addons/{id}': onOne('addon', (own) => ({ name: own.text('renamed') })),
  'DELETE /addons/{id}': onOne('addon'),
  'GET /addons/{id}/entitlements': onOne('addon'),
  'GET /addons/{id}/creditgrants': onOne('addon'),
};

const creditGrants: Readonly<Record<string, Example>> = {
  'POST /creditgrants': {
    request: async (own) => ({ body: await creditGrantBody(own) }),
    names: { 'body.plan_id': 'plan' },
    // Only the one of the scope names a record.
    texts: ['body.addon_id', 'body.subscription_id'],
  },
  'GET /creditgrants': filtered('query', { plan_ids: 'plan' }, ['subscription_ids']),
  'GET /creditgrants/{id}': onOne('credit_grant'),
  'PUT /creditgrants/{id}': onOne('credit_grant', (own) => ({ name: own.text('renamed') })),
  'DELETE /creditgrants/{id}': onOne('credit_grant', () => ({})),
};

const costsheets: Readonly<Record<string, Example>> = {
  'POST /costs': { request: (own) => ({ body: costsheetBody(own) }) },
  'POST /costs/search': { request: nothing },
  'GET /costs/active': {
    request: async (own) => {
      await offerMakers.costsheet(own);
      return {};
    },
  },
  'GET /costs/{id}': onOne('costsheet'),
  'PUT /costs/{id}': onOne('costsheet', (own) => ({ name: own.text('renamed') })),
  'DELETE /costs/{id}': onOne('costsheet'),
};

/** An example for every operation on offers and what they own. */
export const offerExamples: Readonly<Record<string, Example>> = {
  ...plans,
  ...prices,
  ...entitlements,
  ...addons,
  ...creditGrants,
  ...costsheets,
};
