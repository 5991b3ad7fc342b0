import type { RequestContext } from '@counterfoil/engine/define';
import { usageTables } from '../tables.ts';
import { askedGroups, groupView } from './asked-groups.ts';
import type { Grouping } from './breakdown.ts';
import type { GroupUsage } from './group-fold.ts';
import { groupSources } from './group-sources.ts';
import { analyticsLimits, tooManyGroups, tooManyPoints } from './limits.ts';
import type { AnalyticsItem, AnalyticsQuestion, UsageAnalytics } from './schema.ts';
import { type Subject, subjectsOf } from './subjects.ts';
import { usageInGroups } from './usage-in-groups.ts';

/**
 * The usage of features and meters, by source and properties where groups are asked for. What was not used is left
 * out. Nothing has a cost until subscriptions price it.
 */
export async function usageAnalytics(
  context: RequestContext,
  body: AnalyticsQuestion,
): Promise<UsageAnalytics> {
  const { groupings, questionOf } = await askedGroups(context, body);
  const subjects = await subjectsOf(context, body);
  const position = await context.facts.shown(usageTables);
  const items: AnalyticsItem[] = [];
  let points = 0;
  for (const subject of subjects) {
    const question = questionOf(subject.meter);
    const sourcesOf = await groupSources(context, question, body.expand);
    for (const group of await usageInGroups(context, question)) {
      const more = { ...shownOf(subject, body), ...sourcesOf(group.group) };
      items.push({ ...itemOf(subject, groupings, group, body.window_size), ...more });
      points += group.windows.length;
    }
    if (items.length > analyticsLimits.items) throw tooManyGroups();
    if (points > analyticsLimits.points) throw tooManyPoints();
  }
  return { items, custom_analytics: [], position };
}

/** The records that an item shows inside. */
const shownOf = (
  { meter, feature }: Subject,
  { expand = [] }: AnalyticsQuestion,
): Pick<AnalyticsItem, 'feature' | 'meter' | 'group'> => ({
  ...(feature?.group ? { group: feature.group } : {}),
  ...(feature && expand.includes('feature') ? { feature } : {}),
  ...(expand.includes('meter') ? { meter } : {}),
});

function itemOf(
  { meter, feature }: Subject,
  groupings: readonly Grouping[],
  { group, value, events, windows }: GroupUsage,
  size: AnalyticsQuestion['window_size'],
): AnalyticsItem {
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
    ...groupView(groupings, group),
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
