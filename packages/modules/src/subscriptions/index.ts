import { dueWork, module } from '@counterfoil/engine/define';
import { addonAssociationTable } from './addons/projection.ts';
import { addonAssociationRoutes } from './addons/routes.ts';
import { followingSubscriptions } from './change/reactions.ts';
import { planChangeRoutesWith } from './change/routes.ts';
import { couponAssociationTable } from './coupons/projection.ts';
import { couponsOfDrafts } from './coupons/reactions.ts';
import { couponAssociationRoutes } from './coupons/routes.ts';
import { redemptionsSettled } from './coupons/settling.ts';
import { takeDue } from './decisions.ts';
import { ownEntitlementTable } from './entitlements/projection.ts';
import { families } from './families/reactions.ts';
import { subscriptionGrantTable } from './grants/grant-table.ts';
import { grantApplicationTable } from './grants/projection.ts';
import { grantedCredits } from './grants/reactions.ts';
import { grantRoutes } from './grants/routes.ts';
import { type Invoicing, noInvoicing } from './invoicing.ts';
import { lineItemRoutes } from './lines/routes.ts';
import { modificationRoutesWith } from './modify/routes.ts';
import { pauseRoutes } from './pauses/routes.ts';
import { phaseTable } from './phases/projection.ts';
import { phaseRoutes } from './phases/routes.ts';
import { planSyncCarriedOut } from './plan-sync/carry-out.ts';
import { planSync } from './plan-sync/plan-sync.ts';
import { planSyncRoutes } from './plan-sync/routes.ts';
import { lineItemTable, settlementTable, subscriptionTable } from './projection.ts';
import { subscriptionPublicEvents } from './public-events.ts';
import { subscriptionRoutesWith } from './routes.ts';
import { scheduleTable } from './schedules/projection.ts';
import { scheduleRoutes } from './schedules/routes.ts';
import { slimRoutes } from './slim.ts';
import { subscription } from './subscription.ts';
import { taxesOfSubscription } from './taxes/reactions.ts';
import { watchedThresholds } from './thresholds/reactions.ts';
import { subscriptionUsageRoutes } from './usage/routes.ts';

export { type ChargeTerms, chargeTermsOf } from './billing/charge-terms.ts';
export {
  type RatedSettlement,
  type RatedStretch,
  type RatingMoment,
  rateSettled,
} from './billing/rated.ts';
export { type Settled, type SettledSubscription, settledOf } from './billing/settled.ts';
export {
  type RunningSubscription,
  subscriptionsPaidBy,
  unbilledUsage,
} from './billing/unbilled.ts';
export { withPrices } from './billing/with-prices.ts';
export { subscriptionBefore } from './change/start.ts';
export { type CouponData, maximumCoupons } from './coupons/association.ts';
export { prepareOrder } from './creation/prepare.ts';
export { type DividedCredit, dividedCredits } from './credits/divided-credits.ts';
export { creditsOfSettlements, type LowerDebts } from './credits/reactions.ts';
export { giveSubscriptionCredits } from './credits/wallet-credits.ts';
export {
  cancelSubscription,
  createSubscription,
  endUnpaid,
  noteFirstPayment,
  noteInvoiced,
  noteReturned,
  takeDue,
} from './decisions.ts';
export { grantsOf } from './entitlements/grants.ts';
export { isInherited, maximumHeirs, payerOf, usersOf } from './families/family.ts';
export type { Invoicing, Recorded, ShownInvoice } from './invoicing.ts';
export type { LineData, SoldPrice } from './lines/line.ts';
export { ofSubscriptions } from './of-subscriptions.ts';
export { planSync } from './plan-sync/plan-sync.ts';
export { subscriptionTable } from './projection.ts';
export { createSubscriptionSchema, maximumLines, subscriptionSchema } from './schema.ts';
export type { Settlement, SettlementLine } from './settlement/index.ts';
export {
  type AwaitedSettlement,
  type Subscription,
  type SubscriptionState,
  subscription,
} from './subscription.ts';
export { assertTaxable } from './taxes/taxable.ts';
export { type ReachedThreshold, reachThreshold } from './thresholds/threshold.ts';
export { periodNumberAt } from './time/cycle.ts';
export { currentPeriod, nextStep } from './time/steps.ts';
export { chargesOf } from './usage/charges-of-meter.ts';
export { billedStretches } from './usage/stretches.ts';
export { waitsForPayment } from './values.ts';
export { lineItemView } from './view.ts';

/** Takes the steps of subscriptions whose time has come (ADR 41). */
const steps = dueWork({
  name: 'subscription steps',
  table: subscriptionTable,
  column: 'due_at',
  run: (context, id) => context.execute(subscription, id, takeDue(id)),
});

const routesWith = (invoicing: Invoicing) => ({
  ...subscriptionRoutesWith(invoicing),
  ...slimRoutes,
  ...grantRoutes,
  ...lineItemRoutes,
  ...addonAssociationRoutes,
  ...couponAssociationRoutes,
  ...modificationRoutesWith(invoicing),
  ...pauseRoutes,
  ...phaseRoutes,
  ...planSyncRoutes,
  ...planChangeRoutesWith(invoicing),
  ...scheduleRoutes,
  ...subscriptionUsageRoutes,
});

/** The plans that customers have for a time, and everything that happens to them as time passes. */
export const subscriptionsWith = (invoicing: Invoicing) =>
  module({
    name: 'subscriptions',
    aggregates: [subscription, planSync],
    tables: [
      subscriptionTable,
      lineItemTable,
      settlementTable,
      grantApplicationTable,
      ownEntitlementTable,
      subscriptionGrantTable,
      addonAssociationTable,
      scheduleTable,
      couponAssociationTable,
      phaseTable,
    ],
    routes: routesWith(invoicing),
    publicEvents: [subscriptionPublicEvents],
    reactions: [
      grantedCredits,
      planSyncCarriedOut,
      followingSubscriptions,
      families,
      taxesOfSubscription,
      couponsOfDrafts,
      watchedThresholds,
    ],
    dueWork: [steps, redemptionsSettled],
  });

/** Subscriptions where nobody invoices. */
export const subscriptions = subscriptionsWith(noInvoicing);

/** The routes with their exact types, for the typed client. */
export type SubscriptionRoutes = ReturnType<typeof routesWith>;
