import type { Records } from './records.ts';

const idOf = async (made: Promise<{ id: string }>): Promise<string> => (await made).id;

const plan = (own: Records): Promise<string> => idOf(own.create('/plans', planBody(own)));

const addon = (own: Records): Promise<{ id: string; lookup_key: string }> =>
  own.create('/addons', addonBody(own));

const price = async (own: Records): Promise<{ id: string; lookup_key: string }> =>
  own.create('/prices', priceBody(own, await plan(own)));

/** A feature that is there or not. */
const plainFeature = (own: Records): Promise<string> =>
  idOf(own.create('/features', { name: own.text('feature'), type: 'boolean' }));

/** Makes what names a new offer, or a new record of a new plan, by kind. */
export const offerMakers = {
  plan,
  addon: async (own: Records): Promise<string> => (await addon(own)).id,
  addon_key: async (own: Records): Promise<string> => (await addon(own)).lookup_key,
  costsheet: (own: Records): Promise<string> => idOf(own.create('/costs', costsheetBody(own))),
  price: async (own: Records): Promise<string> => (await price(own)).id,
  price_key: async (own: Records): Promise<string> => (await price(own)).lookup_key,
  entitlement: async (own: Records): Promise<string> =>
    idOf(own.create('/entitlements', await entitlementBody(own))),
  credit_grant: async (own: Records): Promise<string> =>
    idOf(own.create('/creditgrants', await creditGrantBody(own))),
} as const;

/** The body of a request for a new plan. */
export const planBody = (own: Records) => ({
  name: own.text('plan'),
  lookup_key: own.text('plan-key'),
  description: own.text('described'),
  metadata: { note: own.mark },
});

/** The body of a request for a new add-on. */
export const addonBody = (own: Records) => ({
  name: own.text('addon'),
  lookup_key: own.text('addon-key'),
});

/** The body of a request for a new costsheet. */
export const costsheetBody = (own: Records) => ({
  name: own.text('costsheet'),
  lookup_key: own.text('costsheet-key'),
});

/** The body of a request for a new monthly price of a plan. */
export const priceBody = (own: Records, planId: string) => ({
  entity_type: 'PLAN',
  entity_id: planId,
  type: 'FIXED',
  billing_model: 'FLAT_FEE',
  billing_period: 'MONTHLY',
  invoice_cadence: 'ADVANCE',
  price_unit_type: 'FIAT',
  currency: 'usd',
  amount: '12.5',
  lookup_key: own.text('price-key'),
  display_name: own.text('price'),
});

/** The body of a request for a new entitlement of a new plan for a new feature. */
export const entitlementBody = async (own: Records) => ({
  feature_id: await plainFeature(own),
  feature_type: 'boolean',
  entity_type: 'PLAN',
  entity_id: await plan(own),
});

/** The body of a request for a new credit grant of a new plan. */
export const creditGrantBody = async (own: Records) => ({
  name: own.text('grant'),
  scope: 'PLAN',
  plan_id: await plan(own),
  credits: '100',
  cadence: 'ONETIME',
});
