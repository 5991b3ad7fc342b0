import type { RequestContext } from '@counterfoil/engine/define';
import { type Span, windowStart } from '@counterfoil/kernel';
import type { Reading } from './aggregation/aggregate.ts';
import { groupOf, type Measured, matches, measureOf } from './aggregation/measure.ts';
import { eventsInOrder } from './event-queries.ts';
import type { UsageQuestion } from './usage-question.ts';

/**
 * The events of a span as a question measures them, in the order of their time.
 *
 * @param known the form in which values and groups are told from each other
 */
export async function* rawReadings(
  context: RequestContext,
  { of, aggregation, filters, zone }: UsageQuestion,
  span: Span,
  known: (text: string) => string = (text) => text,
): AsyncGenerator<Reading> {
  if (span.start >= span.end) return;
  const measure = measureOf(aggregation);
  const { bucket_size: size, group_by: groupedBy } = aggregation;
  for await (const { at, properties } of eventsInOrder(context, of, span)) {
    if (!matches(filters, properties)) continue;
    const measured = measure(properties);
    yield {
      at,
      measured: knownAs(measured, known),
      bucket: size === null ? '' : windowStart({ size, zone }, at),
      group: known(groupedBy === null ? '' : groupOf(properties, groupedBy)),
    };
  }
}

const knownAs = (measured: Measured, known: (text: string) => string): Measured =>
  measured.kind === 'text' ? { kind: 'text', text: known(measured.text) } : measured;
