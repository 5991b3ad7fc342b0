import { decimal, type Span, zero } from '@counterfoil/kernel';
import type { Reading } from './aggregation/aggregate.ts';
import { type Measured, type MeasuredEvent, measureOf } from './aggregation/measure.ts';
import { type AlikeEvents, alikeEvents } from './event-queries.ts';
import { outsideBuckets, rawReadings } from './raw-readings.ts';
import type { UsageQuestion } from './usage-question.ts';
import type { UsageReads } from './usage-reads.ts';

/**
 * The readings of the events of some spans, one after the other: of those that are alike together where neither order nor time matter, else of
 * each.
 *
 * @param known the form in which values and groups are told from each other
 */
export async function* eventReadings(
  context: UsageReads,
  question: UsageQuestion,
  spans: readonly Span[],
  known: (text: string) => string = (text) => text,
): AsyncGenerator<Reading> {
  const asked = spans.filter(({ start, end }) => start < end);
  const [first] = asked;
  if (!first) return;
  const { of, aggregation, filters } = question;
  const property = aggregation.field;
  const alike = isOfMultitude(question)
    ? await alikeEvents(context, of, asked, { filters, property })
    : null;
  if (alike === null) {
    for (const span of asked) yield* rawReadings(context, question, span, known);
    return;
  }
  const measure = measureOfAlike(aggregation, known);
  for (const events of alike) {
    yield { at: first.start, measured: measure(events), ...outsideBuckets };
  }
}

/** Makes the measure of events that are alike in the property that an aggregation takes. */
export function measureOfAlike(
  aggregation: UsageQuestion['aggregation'],
  known: (text: string) => string = (text) => text,
): (events: AlikeEvents) => Measured {
  const measure = measureOf(aggregation);
  return (events) =>
    together(aggregation, measure(propertiesOf(aggregation.field, events)), events, known);
}

/** True for a figure that depends on nothing but the values of one property and their numbers. */
export const isOfMultitude = ({ aggregation, windows }: UsageQuestion): boolean =>
  windows === null && isOfValues(aggregation);

/** True for an aggregation that depends on nothing but the values of one property and their numbers. */
export function isOfValues({
  type,
  expression,
  bucket_size,
}: UsageQuestion['aggregation']): boolean {
  if (expression !== null || bucket_size !== null) return false;
  switch (type) {
    case 'COUNT':
    case 'SUM':
    case 'SUM_WITH_MULTIPLIER':
    case 'AVG':
    case 'MAX':
    case 'COUNT_UNIQUE':
      return true;
    case 'LATEST':
    case 'WEIGHTED_SUM':
      return false;
    default:
      return type satisfies never;
  }
}

const propertiesOf = (name: string | null, { property }: AlikeEvents) =>
  name === null || property === null ? {} : { [name]: JSON.parse(property) };

/** The part that several events alike are, of which each is measured so. */
function together(
  { type }: UsageQuestion['aggregation'],
  measured: MeasuredEvent,
  { count }: AlikeEvents,
  known: (text: string) => string,
): Measured {
  switch (measured.kind) {
    case 'number': {
      // The greatest of equal values is one of them.
      if (type === 'MAX') return measured;
      const total = measured.value.times(decimal(String(count)));
      return { kind: 'sums', count, total, moment: zero };
    }
    case 'event':
      return type === 'COUNT' ? { kind: 'sums', count, total: zero, moment: zero } : measured;
    case 'text':
      return { kind: 'text', text: known(measured.text) };
    case 'bad':
      return measured;
    default:
      return measured satisfies never;
  }
}
