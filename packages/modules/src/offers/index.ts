import { type Module, module } from '@counterfoil/engine/define';
import { offer } from './offer.ts';
import {
  addonTable,
  costsheetTable,
  creditGrantTable,
  entitlementTable,
  planTable,
  priceTable,
} from './projection.ts';
import { type OfferUses, offerRoutes } from './routes.ts';
import { offerPublisher } from './webhooks.ts';

export {
  addonOf,
  costsheetOf,
  type Offer,
  type OfferEvent,
  type OfferState,
  offer,
  planOf,
} from './offer.ts';
export {
  addonTable,
  costsheetTable,
  creditGrantTable,
  entitlementTable,
  planTable,
  priceTable,
} from './projection.ts';
export {
  entitlementsOfFeature,
  pricesOfGroup,
  pricesOfMeter,
  pricesOfPriceUnit,
} from './uses.ts';

/** Plans, add-ons and costsheets with all that they own. The uses are asked before a deletion. */
export const offers = (uses: OfferUses): Module =>
  module({
    name: 'offers',
    aggregates: [offer],
    tables: [planTable, addonTable, costsheetTable, priceTable, entitlementTable, creditGrantTable],
    routes: offerRoutes(uses),
    publishers: [offerPublisher],
  });

/** The routes with their exact types, for the typed client. */
export type OfferRoutes = ReturnType<typeof offerRoutes>;
