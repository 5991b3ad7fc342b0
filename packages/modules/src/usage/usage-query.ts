import type { RequestContext } from '@counterfoil/engine/define';
import {
  type Decimal,
  type DecimalText,
  type Instant,
  invalidOperation,
  laterOf,
  nextWindow,
  type WindowRhythm,
  windowStart,
  zero,
} from '@counterfoil/kernel';
import type { Aggregation } from '../meters/index.ts';
import { type Accumulator, accumulator, type Reading, type Span } from './aggregation/aggregate.ts';
import {
  matches,
  measureOf,
  type Properties,
  type PropertyFilters,
} from './aggregation/measure.ts';
import { textOfProperty } from './aggregation/quantity.ts';
import { eventsInOrder, type UsageOf } from './queries.ts';

/** A question about usage. */
export interface UsageQuestion {
  readonly of: UsageOf;
  readonly aggregation: Aggregation;
  readonly filters: PropertyFilters;
  readonly span: Span;
  /** The zone in which buckets and windows begin. */
  readonly zone: string;
  readonly windows: WindowRhythm | null;
  /** True to list windows without usage too. */
  readonly fills: boolean;
}

/** The usage of a whole span, and of its windows where they were asked for. */
export interface UsageAnswer {
  readonly value: DecimalText | null;
  readonly windows: readonly { readonly start: Instant; readonly value: DecimalText | null }[];
}

/** Windows of one answer. */
const windowsMaximum = 10_000;

/** The usage that a question is about, counted event by event (D54, D56). */
export async function usageOf(
  context: RequestContext,
  question: UsageQuestion,
): Promise<UsageAnswer> {
  const { aggregation, span } = question;
  const before = await levelBefore(context, question);
  const whole = accumulator(aggregation, span, before);
  const windows = new Windows(question, before);
  for await (const reading of readings(context, question, span)) {
    whole.add(reading);
    windows.add(reading);
  }
  return { value: whole.value(), windows: windows.values() };
}

/** The sum of all values before the span, which only WEIGHTED_SUM asks for. */
async function levelBefore(context: RequestContext, question: UsageQuestion): Promise<Decimal> {
  let level = zero;
  if (question.aggregation.type !== 'WEIGHTED_SUM') return level;
  const past = { start: firstInstant, end: question.span.start };
  for await (const { measured } of readings(context, question, past)) {
    if (measured.kind === 'number') level = level.plus(measured.value);
  }
  return level;
}

const firstInstant = '0001-01-01T00:00:00.000Z' as Instant;

async function* readings(
  context: RequestContext,
  { of, aggregation, filters, zone }: UsageQuestion,
  span: Span,
): AsyncGenerator<Reading> {
  const measure = measureOf(aggregation);
  const { bucket_size: size, group_by: groupedBy } = aggregation;
  for await (const { at, properties } of eventsInOrder(context, of, span)) {
    if (!matches(filters, properties)) continue;
    const bucket = size === null ? '' : windowStart({ size, zone }, at);
    const group = groupedBy === null ? '' : groupOf(properties, groupedBy);
    yield { at, measured: measure(properties), bucket, group };
  }
}

/** A missing property is the group `""` (D56). */
const groupOf = (properties: Properties, name: string): string =>
  textOfProperty(Object.hasOwn(properties, name) ? properties[name] : undefined) ?? '';

interface OpenWindow {
  readonly start: Instant;
  readonly end: Instant;
  readonly values: Accumulator;
}

/** The windows of an answer, one after the other. */
class Windows {
  readonly #question: UsageQuestion;
  readonly #open: OpenWindow[] = [];
  #level: Decimal;

  constructor(question: UsageQuestion, before: Decimal) {
    this.#question = question;
    this.#level = before;
    if (question.windows && (question.fills || this.#isOfLevel))
      this.#openUpTo(question.span.start);
  }

  add(reading: Reading): void {
    const { windows, fills } = this.#question;
    if (!windows) return;
    if (fills || this.#isOfLevel) this.#openUpTo(reading.at);
    else if (!this.#covers(reading.at)) this.#openAt(windowStart(windows, reading.at));
    this.#open.at(-1)?.values.add(reading);
    if (reading.measured.kind === 'number') this.#level = this.#level.plus(reading.measured.value);
  }

  values(): UsageAnswer['windows'] {
    const { fills, span, windows } = this.#question;
    if (windows && (fills || this.#isOfLevel)) this.#openUpToEnd(span.end);
    return this.#open.map(({ start, values }) => ({ start, value: values.value() }));
  }

  /** A level goes on through windows in which nothing happens. */
  get #isOfLevel(): boolean {
    return this.#question.aggregation.type === 'WEIGHTED_SUM';
  }

  #covers(at: Instant): boolean {
    const last = this.#open.at(-1);
    return last !== undefined && at < last.end;
  }

  #openUpTo(at: Instant): void {
    const { windows } = this.#question;
    while (windows && !this.#covers(at)) {
      this.#openAt(this.#open.at(-1)?.end ?? windowStart(windows, this.#question.span.start));
    }
  }

  #openUpToEnd(end: Instant): void {
    while ((this.#open.at(-1)?.end ?? end) < end) this.#openAt(this.#open.at(-1)?.end ?? end);
  }

  #openAt(start: Instant): void {
    const { windows, aggregation, span } = this.#question;
    if (!windows) return;
    if (this.#open.length >= windowsMaximum) {
      throw invalidOperation(
        `The answer would have more than ${windowsMaximum} windows. Ask for a shorter span, or larger windows.`,
        { reason: 'limit_reached', limit: windowsMaximum },
      );
    }
    const end = nextWindow(windows, start);
    // The value is that of the part that lies in the span; the label is the whole window's (D54).
    const part = { start: laterOf(start, span.start), end: earlier(end, span.end) };
    this.#open.push({ start, end, values: accumulator(aggregation, part, this.#level) });
  }
}

const earlier = (left: Instant, right: Instant): Instant => (left < right ? left : right);
