import { module } from '@counterfoil/engine/define';
import { noSubscriptions, type OfSubscriptions } from './of-subscriptions.ts';
import { offer } from './offer.ts';
import {
  addonTable,
  costsheetTable,
  creditGrantTable,
  entitlementTable,
  planTable,
  priceTable,
} from './projection.ts';
import { offerPublicEvents } from './public-events.ts';
import { offerRoutes } from './routes.ts';

export { entitlementColumns } from './entitlement/columns.ts';
export {
  createEntitlements,
  deleteEntitlement,
  entitlementDraft,
  updateEntitlement,
} from './entitlement/decisions.ts';
export type { EntitlementData } from './entitlement/entitlement.ts';
export { grantableFeature } from './entitlement/references.ts';
export {
  type CreateEntitlement,
  createBulkEntitlementsSchema,
  type Entitlement,
  entitlementSchema,
  type UpdateEntitlement,
} from './entitlement/schema.ts';
export type { CreditGrantData } from './grant/credit-grant.ts';
export { createCreditGrant, endCreditGrant, updateCreditGrant } from './grant/decisions.ts';
export {
  type CreateCreditGrant,
  type CreditGrant,
  createCreditGrantSchema,
  creditGrantSchema,
  type SubscriptionGrantBody,
  subscriptionGrantSchema,
  type UpdateCreditGrant,
} from './grant/schema.ts';
export { groupMemberRoutes } from './group-routes.ts';
export { noSubscriptions, type OfSubscriptions } from './of-subscriptions.ts';
export {
  type Offer,
  type OfferDecision,
  type OfferEvent,
  type OfferState,
  offer,
} from './offer.ts';
export type { Owner, OwnerType } from './owner.ts';
export { bringPrice } from './price/bring.ts';
export { chainOf, overlap } from './price/chain.ts';
export {
  createPrices,
  endPrice,
  type PriceDraft,
  priceDraft,
  updatePrice,
} from './price/decisions.ts';
export { asksForFigures, priceFieldsOf, repricedFigures } from './price/figures.ts';
export {
  type Figures,
  hasEnded,
  type PriceData,
  type PriceRecord,
  priceData,
  willBeInForce,
} from './price/price.ts';
export { forItem, forItemNow, once, priceDrafts } from './price/references.ts';
export {
  billingPeriodSchema,
  createPriceSchema,
  invoiceCadenceSchema,
  overrideFiguresShape,
  type Price,
  priceSchema,
  priceTypeSchema,
  subscriptionPriceSchema,
  type UpdatePrice,
} from './price/schema.ts';
export { addonTable, costsheetTable, planTable, priceTable } from './projection.ts';
export { entitlementEventTypes } from './public-events.ts';
export { fieldsOf } from './records.ts';
export {
  archiveAddon,
  archivePlan,
  createAddon,
  createCostsheet,
  createPlan,
  deleteCostsheet,
  updateAddon,
  updateCostsheet,
  updatePlan,
} from './root/decisions.ts';
export {
  addonSchema,
  createAddonSchema,
  createCostsheetSchema,
  createPlanSchema,
  planSchema,
} from './root/schema.ts';
export { planView, priceView } from './views.ts';

/** Plans, add-ons and costsheets with all that they own. `of` keeps what subscriptions have of their own. */
export const offersWith = (of: OfSubscriptions) =>
  module({
    name: 'offers',
    aggregates: [offer],
    tables: [planTable, addonTable, costsheetTable, priceTable, entitlementTable, creditGrantTable],
    routes: offerRoutes(of),
    publicEvents: [offerPublicEvents],
  });

/** Offers where no subscriptions are. */
export const offers = offersWith(noSubscriptions);

/** The routes with their exact types, for the typed client. */
export type OfferRoutes = ReturnType<typeof offerRoutes>;
