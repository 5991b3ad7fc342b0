import { type AskingContext, expansion, inTable } from '@counterfoil/engine/define';
import { planTable } from '../../offers/index.ts';
import { usageTables } from '../tables.ts';
import { askedGroups, groupView } from './asked-groups.ts';
import type { Grouping } from './breakdown.ts';
import type { ChargesOf } from './charged-usage.ts';
import { type Costs, costAt, costOf, costsIn, totalOf } from './costs.ts';
import type { GroupUsage } from './group-fold.ts';
import { groupSources } from './group-sources.ts';
import { analyticsLimits, tooManyGroups, tooManyPoints } from './limits.ts';
import type { AnalyticsItem, AnalyticsQuestion, UsageAnalytics } from './schema.ts';
import { type Subject, subjectsOf } from './subjects.ts';
import { usageInGroups } from './usage-in-groups.ts';

/**
 * The usage of features and meters, by source and properties where groups are asked for. What was not used is left
 * out. It costs what the subscriptions of the customer make of it.
 */
export async function usageAnalytics(
  context: AskingContext,
  chargesOf: ChargesOf,
  body: AnalyticsQuestion,
): Promise<UsageAnalytics> {
  const { groupings, questionOf, customer, span } = await askedGroups(context, body);
  const subjects = await subjectsOf(context, body);
  const position = await context.facts.shown(usageTables);
  const costsOf = await costsIn(context, chargesOf, customer, span);
  // Features may share a meter, whose usage is charged once.
  const byMeter = new Map<string, Costs | null>();
  const items: AnalyticsItem[] = [];
  let points = 0;
  for (const subject of subjects) {
    const question = questionOf(subject.meter);
    const sourcesOf = await groupSources(context, question, body.expand);
    const groups = await usageInGroups(context, question);
    if (groups.length === 0) continue;
    const { meter } = subject;
    const costs = byMeter.get(meter.id) ?? (await costsOf(meter, question));
    byMeter.set(meter.id, costs);
    for (const group of groups) {
      const more = {
        ...{ ...shownOf(subject, body), ...soldByOf(costs, body) },
        ...sourcesOf(group.group),
      };
      items.push({ ...itemOf(subject, groupings, group, costs, body.window_size), ...more });
      points += group.windows.length;
    }
    if (items.length > analyticsLimits.items) throw tooManyGroups();
    if (points > analyticsLimits.points) throw tooManyPoints();
  }
  const shown = await itemExpansion.show(context, items, body.expand);
  return { ...totalOf([...byMeter.values()]), items: shown, custom_analytics: [], position };
}

/** Records that items name; the others are at hand. */
const itemExpansion = expansion<AnalyticsItem>({
  plan: { as: 'plan', id: ({ plan_id }) => plan_id, find: inTable(planTable) },
});

/** The records that an item shows inside. */
const shownOf = (
  { meter, feature }: Subject,
  { expand = [] }: AnalyticsQuestion,
): Pick<AnalyticsItem, 'feature' | 'meter' | 'group'> => ({
  ...(feature?.group ? { group: feature.group } : {}),
  ...(feature && expand.includes('feature') ? { feature } : {}),
  ...(expand.includes('meter') ? { meter } : {}),
});

/** The price that makes the cost, and the plan that it came with. */
const soldByOf = (
  costs: Costs | null,
  { expand = [] }: AnalyticsQuestion,
): Pick<AnalyticsItem, 'price_id' | 'plan_id' | 'price'> => {
  if (!costs?.soldBy) return {};
  const { price, planId } = costs.soldBy;
  return {
    price_id: price.id,
    ...(planId === null ? {} : { plan_id: planId }),
    ...(expand.includes('price') ? { price } : {}),
  };
};

function itemOf(
  { meter, feature }: Subject,
  groupings: readonly Grouping[],
  { group, value, events, windows }: GroupUsage,
  costs: Costs | null,
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
    ...costOf(costs, group),
    ...(size === undefined
      ? {}
      : {
          window_size: size,
          points: windows.map((window) => ({
            timestamp: window.start,
            usage: window.value,
            event_count: window.events,
            ...costAt(costs, group, window.start),
          })),
        }),
  };
}
