import { type EventGateway, module } from '@counterfoil/engine/define';
import type { GrantsOf } from '../entitlements/index.ts';
import { lookAtNewUsage, lookAtPeriodEnd } from './alerts/look.ts';
import { usageAlertPublicEvents } from './alerts/public-events.ts';
import { usageAlertTable } from './alerts/records.ts';
import { usageAlertRoutes } from './alerts/routes.ts';
import { usageAlert } from './alerts/usage-alert.ts';
import type { ChargesOf } from './analytics/charged-usage.ts';
import { analyticsRoutes } from './analytics/routes.ts';
import { usageBackfill } from './backfills/index.ts';
import { backfillRoutes } from './backfills/routes.ts';
import { paidUsage } from './balances/paid-usage.ts';
import { usageCredentialsTable } from './credentials/projection.ts';
import { accessOfUsageCredentials, usageCredentialsRoutes } from './credentials/routes.ts';
import { usageCredentials } from './credentials/usage-credentials.ts';
import { currentUsageRoutes } from './current/routes.ts';
import { usageGrouping } from './groupings/usage-grouping.ts';
import { KnownLookups } from './known-lookups.ts';
import { meterUsageRoutes } from './meter-usage/routes.ts';
import { usageMonitoringRoutes } from './monitoring/routes.ts';
import { RecentUsage } from './recent-usage.ts';
import { rejectedUsageRoutes } from './rejected/routes.ts';
import { usageReservation } from './reservations/usage-reservation.ts';
import { ingestionRoutes, usageListRoutes } from './routes.ts';
import { customerUsageRoutes } from './summary/routes.ts';
import { usageTables } from './tables.ts';
import { usageTraceRoutes } from './trace/routes.ts';
import { usageQuestionRoutes } from './usage-routes.ts';
import { usageVoidRoutes } from './voids/routes.ts';
import { usageVoid } from './voids/usage-void.ts';
import { usageWatch } from './watches/usage-watch.ts';

export {
  matches,
  measureOf,
  type Properties,
  type PropertyFilters,
} from './aggregation/measure.ts';
export { usageAlertTable } from './alerts/records.ts';
export { usageAlert } from './alerts/usage-alert.ts';
export { askedFilters } from './analytics/asked-groups.ts';
export { type Grouping, groupingsOf } from './analytics/breakdown.ts';
export type { ChargesOf, UsageCharge } from './analytics/charged-usage.ts';
export { usageAnalytics } from './analytics/usage-analytics.ts';
export { type UsageStretch, usageInStretches } from './analytics/usage-in-stretches.ts';
export { partOfCharge, weighedUsage } from './analytics/usage-part.ts';
export { groupingsMaximum, type UsageShare, usageShares } from './analytics/usage-shares.ts';
export { type CountedPage, countedEvents } from './as-of/counted-events.ts';
export { UsageAsOf } from './as-of/usage-as-of.ts';
export { askedCustomer } from './asked-customer.ts';
export { usageBackfill } from './backfills/index.ts';
export { notePaidUsage, type PaidUsage, paidUsage } from './balances/paid-usage.ts';
export { watchedBalances } from './balances/watched-balances.ts';
export {
  addsUp,
  type CountingMeter,
  countingOf,
  type PeriodUse,
  usageShown,
  usedIn,
} from './current/current-usage.ts';
export { conflicting, type Ingesting, identifiedEvent, ingest } from './ingestion.ts';
export { KnownLookups } from './known-lookups.ts';
export { listKeySchema } from './list-place.ts';
export { RecentUsage } from './recent-usage.ts';
export * from './reservations/index.ts';
export { refuseDropped } from './retention/refuse-dropped.ts';
export { includeChildrenSchema, propertyFiltersSchema } from './schema.ts';
export { usageTables } from './tables.ts';
export type { UsageEventTrace } from './trace/schema.ts';
export { isRepetition, type UsageEvent, usageIntake } from './usage-event.ts';
export { isActive, stretchesOfUsers } from './users.ts';
export { usageWatch, watchUsage } from './watches/usage-watch.ts';
export { watchedUsage } from './watches/watched-usage.ts';
export { wholeAggregation } from './whole-aggregation.ts';

interface UsageOptions {
  /** The grants that customers have by their subscriptions. */
  readonly grantsOf: GrantsOf;
  /** The costs of usage by the same. */
  readonly chargesOf: ChargesOf;
  /** Null where systems get no credentials. */
  readonly gateway: EventGateway | null;
}

const routes = ({ grantsOf, chargesOf, gateway }: UsageOptions) => ({
  ...ingestionRoutes({ recent: new RecentUsage(), lookups: new KnownLookups() }),
  ...usageListRoutes,
  ...rejectedUsageRoutes,
  ...usageQuestionRoutes,
  ...usageTraceRoutes,
  ...usageMonitoringRoutes,
  ...currentUsageRoutes,
  ...usageVoidRoutes,
  ...customerUsageRoutes(grantsOf),
  ...usageCredentialsRoutes(gateway),
  ...backfillRoutes,
  ...analyticsRoutes(chargesOf),
  ...usageAlertRoutes,
  ...meterUsageRoutes(chargesOf),
});

/** Usage: what customers used of what, as their systems tell it. */
export const usage = ({ grantsOf, chargesOf, gateway }: UsageOptions) =>
  module({
    name: 'usage',
    aggregates: [
      ...[usageVoid, usageBackfill, usageCredentials],
      ...[usageAlert, usageReservation, usageGrouping, usageWatch, paidUsage],
    ],
    tables: [usageCredentialsTable, usageAlertTable],
    facts: [usageTables],
    routes: routes({ grantsOf, chargesOf, gateway }),
    publicEvents: [usageAlertPublicEvents],
    dueWork: [lookAtPeriodEnd],
    factWork: [lookAtNewUsage],
    reactions: gateway ? [accessOfUsageCredentials(gateway)] : [],
  });

/** The routes with their exact types, for the typed client. */
export type UsageRoutes = ReturnType<typeof routes>;
