import { type Instant, nextWindow, windowStart, zero } from '@counterfoil/kernel';
import { accumulator, type Reading } from '../aggregation/aggregate.ts';
import { groupOf, matches, measureOf, type Properties } from '../aggregation/measure.ts';
import type { UsageQuestion } from '../usage-question.ts';

/** An event of the tables, with whom it belongs to. */
export interface StoredUsage {
  readonly event_name: string;
  readonly external_id: string;
  readonly customer_id: string | null;
  readonly at: Instant;
  readonly properties: Properties;
}

/** The answer to a question, by a plain fold over all events in the order of their time. */
export function foldedAnswer(events: readonly StoredUsage[], question: UsageQuestion) {
  const { aggregation, span, windows, fills } = question;
  const readings = events.flatMap((event) => readingOf(event, question));
  const valueIn = (start: Instant, end: Instant) => {
    const before = readings
      .filter(({ at }) => at < start)
      .reduce(
        (sum, { measured }) => (measured.kind === 'number' ? sum.plus(measured.value) : sum),
        zero,
      );
    const part = accumulator(aggregation, { start, end }, before);
    for (const one of readings) if (one.at >= start && one.at < end) part.add(one);
    return part.value();
  };
  const value = valueIn(span.start, span.end);
  if (!windows) return { value, windows: [] };
  const within = readings.filter(
    ({ at, measured }) => at >= span.start && at < span.end && measured.kind !== 'bad',
  );
  const isWhole = fills || aggregation.type === 'WEIGHTED_SUM';
  const starts = isWhole
    ? [...startsOf(windows, span)]
    : [...new Set(within.map(({ at }) => windowStart(windows, at)))];
  return {
    value,
    windows: starts.map((start) => {
      const end = nextWindow(windows, start);
      return {
        start,
        value: valueIn(start > span.start ? start : span.start, end < span.end ? end : span.end),
      };
    }),
  };
}

function* startsOf(
  windows: NonNullable<UsageQuestion['windows']>,
  { start, end }: UsageQuestion['span'],
): Generator<Instant> {
  for (let at = windowStart(windows, start); at < end; at = nextWindow(windows, at)) yield at;
}

function readingOf(
  { at, event_name, properties, ...owner }: StoredUsage,
  { of, aggregation, filters, zone }: UsageQuestion,
): readonly Reading[] {
  if (event_name !== of.eventName || !isAsked(owner, of.customer)) return [];
  if (!matches(filters, properties)) return [];
  const { bucket_size: size, group_by } = aggregation;
  return [
    {
      at,
      measured: measureOf(aggregation)(properties),
      bucket: size === null ? '' : windowStart({ size, zone }, at),
      group: group_by === null ? '' : groupOf(properties, group_by),
    },
  ];
}

function isAsked(
  { customer_id, external_id }: Pick<StoredUsage, 'customer_id' | 'external_id'>,
  customer: UsageQuestion['of']['customer'],
): boolean {
  switch (customer.kind) {
    case 'all':
      return true;
    case 'customer':
      return customer_id === customer.id;
    case 'customers':
      return customer_id !== null && customer.ids.includes(customer_id);
    case 'external':
      return customer_id === null && external_id === customer.id;
    default:
      return customer satisfies never;
  }
}
