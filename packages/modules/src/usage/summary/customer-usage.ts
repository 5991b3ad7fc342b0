import type { RequestContext } from '@counterfoil/engine/define';
import { decimal, invariant, zeroText } from '@counterfoil/kernel';
import type { CustomerRecord } from '../../customers/index.ts';
import {
  aggregatedEntitlementView,
  entitlementSourceViews,
  entitlementsOf,
  type FeatureEntitlement,
  type GrantsOf,
  limitPeriod,
  spanOfLimit,
} from '../../entitlements/index.ts';
import type { Feature } from '../../features/index.ts';
import { usedIn, usualPeriod } from '../current/current-usage.ts';
import { runningPeriod } from '../current/running-period.ts';
import { usageTables } from '../tables.ts';
import { wholeAggregation } from '../whole-aggregation.ts';
import { chosenFeatures } from './chosen-features.ts';
import type { CustomerUsage, FeatureUsage, UsageChoice } from './schema.ts';
import { usagePercent } from './usage-percent.ts';

/** The period of a customer whose subscriptions say none. */
const commonPeriod = 'MONTHLY';

/**
 * The use of a customer's features in the periods that run, and what it is granted of them (specification §4.7,
 * E 7, D36). Limits are those of subscriptions: a feature that none grants shows its usage and no limit.
 */
export async function customerUsage(
  context: RequestContext,
  grantsOf: GrantsOf,
  customer: CustomerRecord,
  choice: UsageChoice,
): Promise<CustomerUsage> {
  const { subscription_ids, limit, offset } = choice;
  const granted = await entitlementsOf(context, grantsOf, customer.id, { subscription_ids });
  const { features, total } = await chosenFeatures(context, granted, choice);
  const position = await context.facts.shown(usageTables);
  const byFeature = new Map(granted.map((each) => [each.feature_id, each]));
  const shown: FeatureUsage[] = [];
  for (const feature of features) {
    shown.push(await featureUsage(context, customer, feature, byFeature.get(feature.id) ?? null));
  }
  const period = runningPeriod(commonPeriod, context.now, customer.timezone);
  invariant(period, 'a month ends');
  return {
    customer_id: customer.id,
    features: shown,
    period: { start_time: period.start, end_time: period.end, period: commonPeriod },
    pagination: { limit, offset, total },
    position,
  };
}

async function featureUsage(
  context: RequestContext,
  customer: CustomerRecord,
  feature: Feature,
  granted: FeatureEntitlement | null,
): Promise<FeatureUsage> {
  const { meter } = feature;
  const limit = limitOf(granted);
  const common = {
    feature,
    is_enabled: granted !== null,
    is_soft_limit: limit?.is_soft_limit ?? false,
    total_limit: limit?.usage_limit ?? null,
    is_unlimited: limit !== null && limit.usage_limit === null,
    sources: granted === null ? [] : entitlementSourceViews(granted),
  };
  if (!meter) {
    const percent = granted === null ? {} : { usage_percent: zeroText };
    return { ...common, current_usage: zeroText, ...percent, next_usage_reset_at: null };
  }
  const reset_period = limit?.usage_reset_period ?? usualPeriod(meter);
  const counting = {
    event_name: meter.event_name,
    aggregation: wholeAggregation(meter),
    filters: meter.filters,
  };
  const { now } = context;
  const period =
    granted?.feature_type === 'metered'
      ? spanOfLimit(limitPeriod(granted, now))
      : runningPeriod(reset_period, now, customer.timezone);
  const value = await usedIn(context, { customer, counting, period, now });
  const used = decimal(value ?? zeroText);
  return {
    ...common,
    current_usage: value ?? zeroText,
    ...percentOf(limit, (most) => usagePercent(used, most)),
    usage_reset_period: reset_period,
    next_usage_reset_at: reset_period === 'NEVER' ? null : (period?.end ?? null),
  };
}

type Limit = ReturnType<typeof aggregatedEntitlementView>;

const limitOf = (granted: FeatureEntitlement | null): Limit | null =>
  granted?.feature_type === 'metered' ? aggregatedEntitlementView(granted) : null;

/** Nothing is a part of no limit; of what is unlimited it is 0. */
function percentOf(
  limit: Limit | null,
  percent: (limit: number) => string,
): Pick<FeatureUsage, 'usage_percent'> {
  if (limit === null) return {};
  return { usage_percent: limit.usage_limit === null ? zeroText : percent(limit.usage_limit) };
}
