import type { RequestContext } from '@counterfoil/engine/define';
import type { DecimalText, Instant } from '@counterfoil/kernel';
import type { Aggregation } from '../../meters/index.ts';
import { askedGroups, groupView } from '../analytics/asked-groups.ts';
import type { ChargesOf } from '../analytics/charged-usage.ts';
import { type Costs, costAt, costOf, costsIn, totalOf } from '../analytics/costs.ts';
import type { GroupUsage } from '../analytics/group-fold.ts';
import { groupSources } from '../analytics/group-sources.ts';
import { analyticsLimits, tooManyGroups, tooManyPoints } from '../analytics/limits.ts';
import { subjectsOf } from '../analytics/subjects.ts';
import { type GroupQuestion, usageInGroups } from '../analytics/usage-in-groups.ts';
import { usageTables } from '../tables.ts';
import type { DetailedUsage, DetailedUsageQuestion } from './schema.ts';

/**
 * The usage that meters count, in groups, each with the greatest, the latest and the number of different values that the
 * meter looks at. Meters are those that the request names and those of its features; without either, of all metered
 * ones.
 */
export async function detailedUsage(
  context: RequestContext,
  chargesOf: ChargesOf,
  body: DetailedUsageQuestion,
): Promise<DetailedUsage> {
  const { groupings, questionOf, customer, span } = await askedGroups(context, body);
  const subjects = await subjectsOf(context, body);
  const meters = new Map(subjects.map(({ meter }) => [meter.id, meter]));
  const position = await context.facts.shown(usageTables);
  const costsOf = await costsIn(context, chargesOf, customer, span);
  const allCosts: (Costs | null)[] = [];
  const items: DetailedUsage['items'] = [];
  let points = 0;
  for (const meter of meters.values()) {
    const question = questionOf(meter);
    const details = await detailsOf(context, question);
    const sourcesOf = await groupSources(context, question, body.expand);
    const costs = details.groups.length === 0 ? null : await costsOf(meter, question);
    allCosts.push(costs);
    for (const usage of details.groups) {
      const { group, windows } = usage;
      items.push({
        meter_id: meter.id,
        ...groupView(groupings, group),
        ...sourcesOf(group),
        ...details.figures(usage, group),
        ...costOf(costs, group),
        ...(body.window_size === undefined
          ? {}
          : {
              points: windows.map((window) => ({
                timestamp: window.start,
                ...details.figures(window, group, window.start),
                ...costAt(costs, group, window.start),
              })),
            }),
      });
      points += windows.length;
    }
    if (items.length > analyticsLimits.items) throw tooManyGroups();
    if (points > analyticsLimits.points) throw tooManyPoints();
  }
  return { ...totalOf(allCosts), items, position };
}

/** Aggregations beside the one of a meter: each tells more of the values that it looks at. */
type Beside = 'MAX' | 'LATEST' | 'COUNT_UNIQUE';

/** The groups of a meter's usage, and the figures of each, or of a window of it. */
async function detailsOf(context: RequestContext, question: GroupQuestion) {
  const groups = await usageInGroups(context, question);
  const values = async (type: Beside) => {
    const aggregation = besideOf(question.aggregation, type);
    if (aggregation === null || groups.length === 0) return new Map<string, DecimalText>();
    return byPlace(await usageInGroups(context, { ...question, aggregation }));
  };
  const greatest = await values('MAX');
  const latest = await values('LATEST');
  const unique = await values('COUNT_UNIQUE');
  const figures = (
    { value, events }: Pick<GroupUsage, 'value' | 'events'>,
    group: readonly string[],
    start?: Instant,
  ) => {
    const place = placeOf(group, start);
    return {
      total_usage: value,
      max_usage: greatest.get(place) ?? null,
      latest_usage: latest.get(place) ?? null,
      count_unique_usage: +(unique.get(place) ?? 0),
      event_count: events,
    };
  };
  return { groups, figures };
}

/** Another aggregation of the values that one looks at; null where it looks at none, or at computed ones for texts. */
function besideOf(own: Aggregation, type: Beside): Aggregation | null {
  const { field, expression } = own;
  if (type === 'COUNT_UNIQUE' ? field === null : field === null && expression === null) return null;
  return { type, field, expression, multiplier: null, bucket_size: null, group_by: null };
}

const placeOf = (group: readonly string[], start?: Instant): string =>
  JSON.stringify([group, start ?? null]);

/** The values of groups and their windows, by their place. */
const byPlace = (groups: readonly GroupUsage[]): Map<string, DecimalText> =>
  new Map(
    groups.flatMap(({ group, value, windows }) => [
      ...(value === null ? [] : [[placeOf(group), value] as const]),
      ...windows.flatMap((window) =>
        window.value === null ? [] : [[placeOf(group, window.start), window.value] as const],
      ),
    ]),
  );
