import { type RequestContext, where } from '@counterfoil/engine/define';
import { invalidField } from '@counterfoil/kernel';
import { type Feature, featureRecords, featuresById } from '../../features/index.ts';
import { type Meter, meterRecords } from '../../meters/index.ts';
import { askedCustomer } from '../asked-customer.ts';
import { askedSpan } from '../asked-span.ts';
import { usageTables } from '../tables.ts';
import { wholeAggregation } from '../whole-aggregation.ts';
import type { Grouping } from './breakdown.ts';
import type { GroupUsage } from './group-fold.ts';
import { analyticsLimits, tooManyGroups, tooManyPoints } from './limits.ts';
import type { AnalyticsItem, AnalyticsQuestion, UsageAnalytics } from './schema.ts';
import { type GroupQuestion, usageInGroups } from './usage-in-groups.ts';

/** A meter, and a feature that it measures, if it is asked by one. */
interface Subject {
  readonly meter: Meter;
  readonly feature: Feature | null;
}

/**
 * The usage of features and meters, by source and properties where groups are asked for. What was not used is left
 * out. Nothing has a cost until subscriptions price it.
 */
export async function usageAnalytics(
  context: RequestContext,
  body: AnalyticsQuestion,
): Promise<UsageAnalytics> {
  const { customer, zone: ownZone } = await askedCustomer(context.recalled, body);
  const span = askedSpan(context.now, body);
  const zone = body.timezone ?? ownZone;
  const groupings = groupingsOf(body.group_by ?? []);
  const { window_size: size, billing_anchor: anchor } = body;
  const subjects = await subjectsOf(context, body);
  const position = await context.facts.shown(usageTables);
  const asked = Object.entries(body.property_filters ?? {}).map(([key, values]) => ({
    key,
    values,
  }));
  const items: AnalyticsItem[] = [];
  let points = 0;
  for (const subject of subjects) {
    const { meter } = subject;
    const question: GroupQuestion = {
      of: { eventName: meter.event_name, customer },
      aggregation: wholeAggregation(meter),
      filters: [...meter.filters, ...asked],
      sources: body.sources ?? [],
      groupings,
      span,
      zone,
      windows: size === undefined ? null : { size, zone, anchor },
    };
    for (const group of await usageInGroups(context, question)) {
      items.push(itemOf(subject, groupings, group, size));
      points += group.windows.length;
    }
    if (items.length > analyticsLimits.items) throw tooManyGroups();
    if (points > analyticsLimits.points) throw tooManyPoints();
  }
  return { items, custom_analytics: [], position };
}

const propertyPrefix = 'properties.';

/** Usage is always told apart by feature: figures of different meters have no sum. */
const groupingsOf = (names: readonly string[]): readonly Grouping[] =>
  [...new Set(names)].flatMap((name): Grouping[] => {
    if (name === 'source') return [{ kind: 'source' }];
    if (!name.startsWith(propertyPrefix)) return [];
    return [{ kind: 'property', name: name.slice(propertyPrefix.length) }];
  });

/** The meters and features that are asked for; every metered feature where none is. Unknown ones have no usage. */
async function subjectsOf(
  context: RequestContext,
  { feature_ids = [], meter_ids = [] }: AnalyticsQuestion,
): Promise<readonly Subject[]> {
  const byMeter = meter_ids.length === 0 ? [] : await metersById(context, meter_ids);
  const meters = byMeter.map((meter) => ({ meter, feature: null }));
  if (feature_ids.length === 0 && meter_ids.length > 0) return meters;
  const { items, pagination } = await context.read.list(
    featureRecords.table,
    { limit: analyticsLimits.features, offset: 0, sort: [{ column: 'name', order: 'asc' }] },
    [
      ...where('type', 'eq', 'metered'),
      ...where('status', 'eq', 'published'),
      ...where('id', 'in', feature_ids.length === 0 ? null : feature_ids),
    ],
  );
  if (pagination.total > items.length) {
    const most = `at most ${analyticsLimits.features} features: there are ${pagination.total}`;
    throw invalidField('/feature_ids', `must name ${most}`);
  }
  const whole = await featuresById(
    context,
    items.map(({ id }) => id),
  );
  const features = items.flatMap(({ id }): Subject[] => {
    const feature = whole.get(id);
    return feature?.meter ? [{ meter: feature.meter, feature }] : [];
  });
  return [...features, ...meters];
}

/** The meters with some ids, whatever became of them; those that nobody knows are left out. */
async function metersById(context: RequestContext, ids: readonly string[]): Promise<Meter[]> {
  const found = await meterRecords.byIds(context, ids);
  return [...new Set(ids)].flatMap((id) => found.get(id) ?? []);
}

function itemOf(
  { meter, feature }: Subject,
  groupings: readonly Grouping[],
  { group, value, events, windows }: GroupUsage,
  size: AnalyticsQuestion['window_size'],
): AnalyticsItem {
  const shown = groupings.map((grouping, index) => ({ grouping, text: group[index] ?? '' }));
  const source = shown.find(({ grouping }) => grouping.kind === 'source')?.text;
  const properties = shown.flatMap(({ grouping, text }) =>
    grouping.kind === 'property' ? [[grouping.name, text] as const] : [],
  );
  return {
    ...(feature && {
      feature_id: feature.id,
      name: feature.name,
      ...(feature.unit_singular === undefined ? {} : { unit: feature.unit_singular }),
      ...(feature.unit_plural === undefined ? {} : { unit_plural: feature.unit_plural }),
    }),
    meter_id: meter.id,
    event_name: meter.event_name,
    aggregation_type: meter.aggregation.type,
    ...(source === undefined ? {} : { source }),
    ...(properties.length > 0 ? { properties: Object.fromEntries(properties) } : {}),
    total_usage: value,
    event_count: events,
    ...(size === undefined
      ? {}
      : {
          window_size: size,
          points: windows.map((window) => ({
            timestamp: window.start,
            usage: window.value,
            event_count: window.events,
          })),
        }),
  };
}
