import { type Instant, windowStart } from '@counterfoil/kernel';
import type { Reading } from '../aggregation/aggregate.ts';
import { groupOf, matches, measureOf, type Properties } from '../aggregation/measure.ts';
import type { BreakdownQuestion, Grouping } from './breakdown.ts';
import { GroupFold, type GroupUsage } from './group-fold.ts';
import { analyticsLimits, tooManyGroups, tooManyPoints } from './limits.ts';
import { WindowIndex } from './window-index.ts';

/** A usage event, as far as it is counted in groups. */
export interface GroupedEvent {
  readonly at: Instant;
  readonly source: string | null;
  readonly properties: Properties;
}

/** An event as a question measures it, with the group that it is in. */
export interface GroupReading {
  readonly group: readonly string[];
  readonly reading: Reading;
}

/** The events that a question counts, each as it is measured. */
export async function* groupReadings(
  { aggregation, filters, sources, groupings, zone }: BreakdownQuestion,
  events: AsyncIterable<GroupedEvent> | Iterable<GroupedEvent>,
): AsyncGenerator<GroupReading> {
  const measure = measureOf(aggregation);
  for await (const event of events) {
    const { at, source, properties } = event;
    if (sources.length > 0 && (source === null || !sources.includes(source))) continue;
    if (!matches(filters, properties)) continue;
    const measured = measure(properties);
    if (measured.kind === 'bad') continue;
    const { bucket_size: size, group_by } = aggregation;
    const reading: Reading = {
      at,
      measured,
      bucket: size === null ? '' : windowStart({ size, zone }, at),
      group: group_by === null ? '' : groupOf(properties, group_by),
    };
    yield { group: groupings.map((each) => groupTextOf(each, event)), reading };
  }
}

/**
 * The usage of groups, event by event: what statements cannot sum up. Events come in the order of their time and, at
 * one instant, of the log; those before the span are looked at for a level alone.
 */
export async function foldedEvents(
  question: BreakdownQuestion,
  events: AsyncIterable<GroupedEvent> | Iterable<GroupedEvent>,
): Promise<readonly GroupUsage[]> {
  const { span, windowStarts } = question;
  const fold = new GroupFold(question);
  const windows = new WindowIndex(windowStarts);
  for await (const { group, reading } of groupReadings(question, events)) {
    if (reading.at < span.start) fold.addBefore(group, reading);
    else {
      fold.addToWhole(group, reading, 1);
      if (windowStarts.length > 0) fold.addToWindow(group, windows.of(reading.at), reading, 1);
    }
    if (fold.size > analyticsLimits.items) throw tooManyGroups();
    if (fold.points > analyticsLimits.points) throw tooManyPoints();
  }
  return fold.values();
}

const groupTextOf = (grouping: Grouping, { source, properties }: GroupedEvent): string =>
  grouping.kind === 'source' ? (source ?? '') : groupOf(properties, grouping.name);
