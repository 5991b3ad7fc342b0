import { type Span, windowStart } from '@counterfoil/kernel';
import type { Reading } from './aggregation/aggregate.ts';
import { groupOf, type Measured, matches, measureOf } from './aggregation/measure.ts';
import { type CountedEvent, eventsInOrder } from './event-queries.ts';
import type { UsageQuestion } from './usage-question.ts';
import type { UsageReads } from './usage-reads.ts';

/**
 * The events of a span as a question measures them, in the order of their time.
 *
 * @param known the form in which values and groups are told from each other
 */
export async function* rawReadings(
  context: UsageReads,
  question: UsageQuestion,
  span: Span,
  known?: Known,
): AsyncGenerator<Reading> {
  if (span.start >= span.end) return;
  yield* measuredReadings(eventsInOrder(context, question.of, span), question, known);
}

/** The form in which values and groups are told from each other. */
export type Known = (text: string) => string;

/** Some events as a question measures them. */
export async function* measuredReadings(
  events: AsyncIterable<CountedEvent>,
  { aggregation, filters, zone }: Pick<UsageQuestion, 'aggregation' | 'filters' | 'zone'>,
  known: Known = (text) => text,
): AsyncGenerator<Reading> {
  const measure = measureOf(aggregation);
  const { bucket_size: size, group_by: groupedBy } = aggregation;
  for await (const { at, properties } of events) {
    if (!matches(filters, properties)) continue;
    const measured = measure(properties);
    yield {
      at,
      measured: knownAs(measured, known),
      ...(size === null
        ? outsideBuckets
        : {
            bucket: windowStart({ size, zone }, at),
            group: known(groupedBy === null ? '' : groupOf(properties, groupedBy)),
          }),
    };
  }
}

/** The place of a reading where there are no buckets, whatever tells values from each other. */
export const outsideBuckets = { bucket: '', group: '' } as const;

const knownAs = (measured: Measured, known: Known): Measured =>
  measured.kind === 'text' ? { kind: 'text', text: known(measured.text) } : measured;
