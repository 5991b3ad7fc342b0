export type {
  Charge,
  FlatFeeCharge,
  PackageCharge,
  TierCharge,
  TieredCharge,
} from './charge.ts';
export {
  type Cost,
  cost,
  costOfBuckets,
  type ExactCost,
  exactCost,
  exactCostOfBuckets,
  type RoundedAmount,
  roundedAmount,
} from './cost.ts';
export {
  displayAmount,
  displayPriceUnitAmount,
  displayTotal,
  symbolOf,
} from './display-amount.ts';
export {
  creationPointers,
  type PriceFields,
  type PricePointers,
  priceTermsOf,
  repricingPointers,
} from './price-fields.ts';
export { inCurrency, tiersInCurrency } from './price-unit.ts';
export { quoteOf, quoteView } from './quote.ts';
export {
  maximumQuotedBuckets,
  type Quote,
  type QuoteBody,
  quoteBodySchema,
  quoteSchema,
} from './schema.ts';
export type { PriceTerms, PriceUnitRate, Tier } from './terms.ts';
export { maximumTiers, type TierFields, validateTiers } from './tiers.ts';
