import type { AskingContext } from '@counterfoil/engine/define';
import { type DecimalText, decimal, type Span, textOf } from '@counterfoil/kernel';
import type { UsageOf } from '../usage-of.ts';
import { foldedEvents, type GroupedEvent } from './folded-events.ts';
import type { GroupUsage } from './group-fold.ts';
import { groupedEvents } from './grouped-events.ts';
import { type GroupQuestion, inWindows, usageInGroups } from './usage-in-groups.ts';

/** A stretch of time, and the customers whose events count in it. */
export interface UsageStretch {
  readonly customerIds: readonly string[];
  readonly span: Span;
}

/** A question about usage in groups over stretches of its span, which come in the order of time. */
export type StretchesQuestion = Omit<GroupQuestion, 'of'> & {
  readonly eventName: string;
  readonly stretches: readonly UsageStretch[];
};

/**
 * The usage of each group in which something was counted over stretches of time, each with customers of its own. A level
 * (WEIGHTED_SUM) goes on between them: it is told of all the time, with the customers of any stretch.
 */
export async function usageInStretches(
  context: AskingContext,
  { eventName, stretches, ...asked }: StretchesQuestion,
): Promise<readonly GroupUsage[]> {
  const [first, ...others] = stretches;
  if (!first) return [];
  const questionOf = (customerIds: readonly string[], span: Span): GroupQuestion => ({
    ...{ ...asked, span },
    of: { eventName, customer: customersOf(customerIds) },
  });
  const all = questionOf([...new Set(stretches.flatMap((each) => each.customerIds))], asked.span);
  const { type, bucket_size } = asked.aggregation;
  if (type === 'WEIGHTED_SUM') return usageInGroups(context, all);
  if (others.length === 0) return usageInGroups(context, questionOf(first.customerIds, first.span));
  if ((type === 'COUNT' || type === 'SUM') && bucket_size === null) {
    const parts: GroupUsage[] = [];
    for (const { customerIds, span } of stretches) {
      parts.push(...(await usageInGroups(context, questionOf(customerIds, span))));
    }
    return addedUp(parts);
  }
  // What is kept of whole hours, and what statements tell of one stretch, does not add up.
  const events = stretches.map(({ customerIds, span }) =>
    groupedEvents(context, questionOf(customerIds, span), span),
  );
  return foldedEvents(inWindows(all), inTurn(events));
}

async function* inTurn(
  parts: readonly AsyncIterable<GroupedEvent>[],
): AsyncGenerator<GroupedEvent> {
  for (const part of parts) yield* part;
}

type Figure = Pick<GroupUsage, 'value' | 'events'>;

/** Sums of stretches, added up for each group, and for each window of one. */
const addedUp = (parts: readonly GroupUsage[]): readonly GroupUsage[] =>
  [...Map.groupBy(parts, ({ group }) => JSON.stringify(group)).values()].map((same) => ({
    ...(same[0] as GroupUsage),
    ...sumOf(same),
    windows: windowsOf(same.flatMap(({ windows }) => windows)),
  }));

/** The windows of a group, those that a stretch ends and another begins in added up. */
const windowsOf = (windows: GroupUsage['windows']): GroupUsage['windows'] =>
  [...Map.groupBy(windows, ({ start }) => start)].map(([start, same]) => ({
    ...sumOf(same),
    start,
  }));

/** At least one figure. */
const sumOf = (figures: readonly Figure[]): Figure =>
  figures.map(({ value, events }) => ({ value, events })).reduce(both);

const both = (one: Figure, other: Figure): Figure => ({
  value: plus(one.value, other.value),
  events: one.events + other.events,
});

const plus = (one: DecimalText | null, other: DecimalText | null): DecimalText | null =>
  one === null || other === null ? (one ?? other) : textOf(decimal(one).plus(decimal(other)));

function customersOf(ids: readonly string[]): UsageOf['customer'] {
  const [id, ...others] = ids;
  return id !== undefined && others.length === 0
    ? { kind: 'customer', id }
    : { kind: 'customers', ids };
}
