import type { Records, RequestContext } from '@counterfoil/engine/define';
import {
  type DecimalText,
  decimal,
  type Instant,
  invalidField,
  invariant,
  lastInstant,
  notFound,
  type Span,
  textOf,
  zero,
  zeroText,
} from '@counterfoil/kernel';
import { type CustomerRecord, customerReference } from '../../customers/index.ts';
import type { ResetPeriod } from '../../entitlements/index.ts';
import { feature } from '../../features/index.ts';
import { type Aggregation, type MeterRecord, meter } from '../../meters/index.ts';
import type { PropertyFilters } from '../aggregation/measure.ts';
import { usageTables } from '../tables.ts';
import type { UsageOf } from '../usage-of.ts';
import { usageOf } from '../usage-query.ts';
import type { UsageReads } from '../usage-reads.ts';
import { usageValueView } from '../usage-view.ts';
import { type CountedUser, stretchesOfUsers } from '../users.ts';
import { runningPeriod } from './running-period.ts';
import type { CurrentUsage, CurrentUsageQuestion } from './schema.ts';

/**
 * The use of a meter by a customer in the period that runs. All usage of the period counts that is recorded, also the
 * little that may lie ahead; a level over time is that up to now. 404 for an unknown customer, feature or meter, 400 for
 * a feature without meter.
 */
export async function currentUsage(
  context: RequestContext,
  question: CurrentUsageQuestion,
): Promise<CurrentUsage> {
  const customer = await customerReference(context.recalled, question);
  const { counted, featureId } = await countedBy(context.recalled, question);
  const reset_period = question.reset_period ?? usualPeriod(counted);
  const position = await usageShown(context);
  const { value, period } = await usedSoFar(context, customer, counted, reset_period);
  return {
    customer_id: customer.id,
    feature_id: featureId,
    meter_id: counted.id,
    event_name: counted.event_name,
    type: counted.aggregation.type,
    reset_period,
    period_start: period?.start ?? null,
    period_end: period?.end ?? null,
    ...usageValueView(value),
    position,
  };
}

/** As much of a meter as says what it counts. */
export interface Counting {
  readonly event_name: string;
  readonly aggregation: Aggregation;
  readonly filters: PropertyFilters;
}

/** The usage of a customer in the period that runs; the period is null for one that never ends. */
export async function usedSoFar(
  context: RequestContext,
  customer: PeriodUse['customer'],
  counting: Counting,
  reset_period: ResetPeriod,
): Promise<{ readonly value: DecimalText | null; readonly period: Span | null }> {
  const { now } = context;
  const period = runningPeriod(reset_period, now, customer.timezone);
  return { value: await usedIn(context, { customer, counting, period, now }), period };
}

/** A customer's use of something in a period; null is a period that never ends. */
export interface PeriodUse {
  readonly customer: Pick<CustomerRecord, 'id' | 'timezone' | 'created_at'>;
  readonly counting: Counting;
  readonly period: Span | null;
  readonly now: Instant;
  /** All whose use counts, where it is that of several together: of what adds up alone. */
  readonly users?: readonly CountedUser[] | null;
}

/** The position in the log up to which usage is counted that is read next, with all that the caller has sent. */
export const usageShown = ({ facts }: UsageReads): Promise<string> => facts.shown(usageTables);

/** The usage of a period, as far as it is recorded; a level over time is that up to now. */
export async function usedIn(
  reads: UsageReads,
  { customer, counting, period, now, users = null }: PeriodUse,
): Promise<DecimalText | null> {
  const { event_name, aggregation, filters } = counting;
  const span = spanOf(now, customer, aggregation, period);
  const usageBy = async (of: UsageOf['customer'], part: Span) => {
    const { value } = await usageOf(reads, {
      of: { eventName: event_name, customer: of },
      aggregation,
      filters,
      span: part,
      zone: customer.timezone,
      windows: null,
      fills: false,
    });
    return value;
  };
  if (users === null) return usageBy({ kind: 'customer', id: customer.id }, span);
  invariant(addsUp(aggregation), `${aggregation.type} of several customers does not add up`);
  let sum = zero;
  for (const { customerIds: ids, span: part } of stretchesOfUsers(users, span)) {
    sum = sum.plus(decimal((await usageBy({ kind: 'customers', ids }, part)) ?? zeroText));
  }
  return textOf(sum);
}

/** Tells whether the usage of several customers together is the sum of what each has. */
export const addsUp = ({ type }: Pick<Aggregation, 'type'>): boolean =>
  type === 'COUNT' || type === 'SUM' || type === 'SUM_WITH_MULTIPLIER';

/** The period of a meter where nothing else says one. */
export const usualPeriod = ({ reset_usage }: Pick<MeterRecord, 'reset_usage'>): ResetPeriod =>
  reset_usage === 'NEVER' ? 'NEVER' : 'MONTHLY';

const firstInstant = '0001-01-01T00:00:00.000Z' as Instant;

/** A level over time has none in the future; one that never starts over is that since the customer was created. */
function spanOf(
  now: Instant,
  { created_at }: Pick<CustomerRecord, 'created_at'>,
  { type }: Aggregation,
  period: Span | null,
): Span {
  if (type !== 'WEIGHTED_SUM') return period ?? { start: firstInstant, end: lastInstant };
  return { start: period?.start ?? (created_at as Instant), end: now };
}

/** A meter with what it counts. */
export type CountingMeter = Omit<MeterRecord, 'aggregation'> & Counting;

/** The meter with what it counts. */
export const countingOf = (record: MeterRecord): CountingMeter => ({
  ...record,
  aggregation: record.aggregation as Aggregation,
});

async function countedBy(
  records: Records,
  { feature_id, meter_id }: CurrentUsageQuestion,
): Promise<{ readonly counted: CountingMeter; readonly featureId: string | null }> {
  if (feature_id === undefined) {
    const counted = await records.load(meter, meter_id ?? '');
    if (!counted) throw notFound('meter', meter_id ?? '', 'meter_id');
    return { counted: countingOf(counted), featureId: null };
  }
  const found = await records.load(feature, feature_id);
  if (!found) throw notFound('feature', feature_id, 'feature_id');
  const counted = found.meter_id === null ? null : await records.load(meter, found.meter_id);
  if (!counted) throw invalidField('/feature_id', 'is of a feature that is not metered');
  return { counted: countingOf(counted), featureId: found.id };
}
