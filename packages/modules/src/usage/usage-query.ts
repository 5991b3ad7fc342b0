import {
  type Decimal,
  type DecimalText,
  earlierOf,
  type Instant,
  invalidOperation,
  laterOf,
  nextWindow,
  type Span,
  windowStart,
  zero,
} from '@counterfoil/kernel';
import { type Accumulator, accumulator, type Reading } from './aggregation/aggregate.ts';
import type { Measured } from './aggregation/measure.ts';
import { eventReadings } from './event-readings.ts';
import { filteredReadings } from './groupings/filtered-readings.ts';
import { type Beside, inOrder, rolledUpReadings } from './roll-ups/readings.ts';
import type { UsageQuestion } from './usage-question.ts';
import type { UsageReads } from './usage-reads.ts';

/** The usage of a whole span, and of its windows where they were asked for. */
export interface UsageAnswer {
  readonly value: DecimalText | null;
  readonly windows: readonly { readonly start: Instant; readonly value: DecimalText | null }[];
  /** The events that were counted one by one, or with others alike: none where sums were kept. */
  readonly eventsCounted: number;
}

/** Windows of one answer. */
const windowsMaximum = 10_000;

/**
 * The usage that a question is about, (D54, D56).
 *
 * @param beside readings of other events, which are counted first; for questions without windows
 */
export async function usageOf(
  context: UsageReads,
  question: UsageQuestion,
  beside?: Beside,
): Promise<UsageAnswer> {
  const { aggregation, span } = question;
  const before = await levelBefore(context, question);
  const whole = accumulator(aggregation, span, before);
  const windows = new Windows(question, before);
  const { isKept, readings } = await foundReadings(context, question, span, beside);
  let events = 0;
  for await (const reading of readings) {
    whole.add(reading);
    windows.add(reading);
    events += eventsIn(reading);
  }
  return { value: whole.value(), windows: windows.values(), eventsCounted: isKept ? 0 : events };
}

/** The sum of all values before the span, which only WEIGHTED_SUM asks for. */
async function levelBefore(context: UsageReads, question: UsageQuestion): Promise<Decimal> {
  let level = zero;
  if (question.aggregation.type !== 'WEIGHTED_SUM') return level;
  const past = { start: firstInstant, end: question.span.start };
  const { readings } = await foundReadings(context, { ...question, windows: null }, past);
  for await (const { measured } of readings) {
    level = level.plus(changeOf(measured));
  }
  return level;
}

/** The change of a level that a reading is. */
function changeOf(measured: Measured): Decimal {
  if (measured.kind === 'sums') return measured.total;
  return measured.kind === 'number' ? measured.value : zero;
}

const firstInstant = '0001-01-01T00:00:00.000Z' as Instant;

/** From what is kept of whole hours where there is something, else event by event. */
async function foundReadings(
  context: UsageReads,
  question: UsageQuestion,
  span: Span,
  beside?: Beside,
): Promise<{ readonly isKept: boolean; readonly readings: AsyncIterable<Reading> }> {
  const kept =
    (await rolledUpReadings(context, question, span, beside)) ??
    (await filteredReadings(context, question, span, beside));
  if (kept) return { isKept: true, readings: kept };
  const events = eventReadings(context, question, [span]);
  return { isKept: false, readings: beside ? inOrder([beside(), events]) : events };
}

const eventsIn = ({ measured }: Reading): number => (measured.kind === 'sums' ? measured.count : 1);

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
    // Windows in which nothing counts are left out as those in which nothing happens.
    if (!windows || reading.measured.kind === 'bad') return;
    if (fills || this.#isOfLevel) this.#openUpTo(reading.at);
    else if (!this.#covers(reading.at)) this.#openAt(windowStart(windows, reading.at));
    this.#open.at(-1)?.values.add(reading);
    this.#level = this.#level.plus(changeOf(reading.measured));
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
    const part = { start: laterOf(start, span.start), end: earlierOf(end, span.end) };
    this.#open.push({ start, end, values: accumulator(aggregation, part, this.#level) });
  }
}
