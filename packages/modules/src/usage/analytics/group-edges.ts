import type { AskingContext } from '@counterfoil/engine/define';
import type { Span } from '@counterfoil/kernel';
import { groupOf } from '../aggregation/measure.ts';
import { alikeEvents } from '../event-queries.ts';
import { isOfValues, measureOfAlike } from '../event-readings.ts';
import { outsideBuckets } from '../raw-readings.ts';
import type { BreakdownQuestion } from './breakdown.ts';
import { type GroupReading, groupReadings } from './folded-events.ts';
import { groupedEvents } from './grouped-events.ts';

/** A span of which the whole hours are known already. */
interface CutSpan {
  readonly span: Span;
  readonly hours: Span;
}

/** An event of a group, or several as one reading. */
export interface EdgeReading extends GroupReading {
  readonly events: number;
}

/** The readings of some events, in the groups of one property. */
export type EdgeReadings = AsyncIterable<EdgeReading>;

/** The events beside the whole hours of a span: those before them, and those after. */
export function edgesOf(
  context: AskingContext,
  question: BreakdownQuestion,
  { span, hours }: CutSpan,
): { readonly early: EdgeReadings; readonly late: EdgeReadings } {
  const first = { start: span.start, end: hours.start };
  const last = { start: hours.end, end: span.end };
  const of = (...parts: readonly Span[]) => readingsOf(context, question, parts);
  // Without windows it does not matter where a reading is from: both are one statement.
  return question.windowStarts.length === 0
    ? { early: of(first, last), late: of() }
    : { early: of(first), late: of(last) };
}

async function* readingsOf(
  context: AskingContext,
  question: BreakdownQuestion,
  spans: readonly Span[],
): AsyncGenerator<EdgeReading> {
  const asked = spans.filter(({ start, end }) => start < end);
  const together = await readingsOfAlike(context, question, asked);
  if (together !== null) {
    yield* together;
    return;
  }
  for (const span of asked) {
    const events = groupedEvents(context, question, span);
    for await (const one of groupReadings(question, events)) yield { ...one, events: 1 };
  }
}

/** The readings of events that are alike; null where each has to be read, as where a window begins among them. */
async function readingsOfAlike(
  context: AskingContext,
  { of, aggregation, filters, groupings, windowStarts }: BreakdownQuestion,
  spans: readonly Span[],
): Promise<readonly EdgeReading[] | null> {
  const [first] = spans;
  if (!first) return [];
  const [grouping] = groupings;
  const isCut = spans.some(({ start, end }) => windowStarts.some((at) => start < at && at < end));
  if (isCut || grouping?.kind !== 'property' || !isOfValues(aggregation)) return null;
  const { name } = grouping;
  const choice = { filters, property: aggregation.field, groupedBy: name };
  const alike = await alikeEvents(context, of, spans, choice);
  if (alike === null) return null;
  const measure = measureOfAlike(aggregation);
  return alike.flatMap((events): EdgeReading[] => {
    const measured = measure(events);
    if (measured.kind === 'bad') return [];
    const properties = events.grouped === null ? {} : { [name]: JSON.parse(events.grouped) };
    const reading = { at: first.start, measured, ...outsideBuckets };
    return [{ group: [groupOf(properties, name)], reading, events: events.count }];
  });
}
