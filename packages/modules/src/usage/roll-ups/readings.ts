import { type Instant, type Span, zero } from '@counterfoil/kernel';
import type { Reading } from '../aggregation/aggregate.ts';
import type { Measured } from '../aggregation/measure.ts';
import { eventReadings, isOfMultitude } from '../event-readings.ts';
import { type Known, outsideBuckets } from '../raw-readings.ts';
import type { UsageQuestion } from '../usage-question.ts';
import type { UsageReads } from '../usage-reads.ts';
import { definitionDigest, definitionOf, digestOf, type Keeps } from './definition.ts';
import { hourAfter, hourFrom, hourOf, hourUpTo } from './hours.ts';
import {
  type Digested,
  distinctByHour,
  distinctOver,
  greatestOfBuckets,
  type Pages,
  type Sums,
  sumsByHour,
  sumsOver,
  type WantedHours,
} from './queries.ts';
import { isBelowHour, type Stretches, stretchesOf } from './stretches.ts';

/** Readings of a question, in the order of time. */
export type Readings = AsyncIterable<Reading>;

/** Readings of events that are in no table that is counted, with values and groups in a form that is given. */
export type Beside = (known?: Known) => Readings;

/**
 * The readings of a span of a question, with the whole hours in it from what is kept of them, and the rest from events.
 * Null where nothing is kept for such a question, or not all of it yet.
 */
export async function rolledUpReadings(
  context: UsageReads,
  question: UsageQuestion,
  span: Span,
  beside?: Beside,
): Promise<Readings | null> {
  const { of, aggregation, filters, windows } = question;
  const hours = hoursOf(span, windows);
  if (hours === null) return null;
  const definition = definitionOf(of.eventName, aggregation, filters);
  const wanted = {
    keeps: definition.keeps,
    digest: definitionDigest(definition),
    customer: of.customer,
    span: hours,
  };
  const { edges, raw } = besideHours(context, question, { span, hours, beside });
  if (windows === null && definition.keeps === 'distinct') {
    return await distinctReadings(context, wanted, edges);
  }
  const within = await hourReadings(context, question, wanted, definition.keeps, raw);
  return within && inOrder([edges.before, within, edges.after]);
}

/** The whole hours of a span; null where it has none, or windows are smaller. */
export function hoursOf(span: Span, windows: UsageQuestion['windows']): Span | null {
  const hours = { start: hourFrom(span.start), end: hourUpTo(span.end) };
  const isCut = windows !== null && isBelowHour(windows.size);
  return hours.start >= hours.end || isCut ? null : hours;
}

interface CutSpan {
  readonly span: Span;
  /** The whole hours in it. */
  readonly hours: Span;
  readonly beside: Beside | undefined;
}

/** The readings of what lies beside whole hours, and those of the events of any part. */
export function besideHours(
  context: UsageReads,
  question: UsageQuestion,
  { span, hours, beside }: CutSpan,
) {
  const raw = (...parts: readonly Span[]): Readings =>
    eventReadings(context, question, parts, digestOf);
  const first = { start: span.start, end: hours.start };
  const last = { start: hours.end, end: span.end };
  // Where order does not matter, both are asked for at once.
  const [early, late] = isOfMultitude(question)
    ? [raw(first, last), raw()]
    : [raw(first), raw(last)];
  const before = beside ? inOrder([beside(digestOf), early]) : early;
  return { edges: { before, after: late }, raw };
}

/** Readings of several parts, one part after the other. */
export async function* inOrder(parts: readonly Readings[]): AsyncGenerator<Reading> {
  for (const part of parts) yield* part;
}

/** Values at the edges are held against those that are kept. */
async function distinctReadings(
  context: UsageReads,
  wanted: WantedHours,
  { before, after }: { readonly before: Readings; readonly after: Readings },
): Promise<Readings | null> {
  const readings: Reading[] = [];
  for await (const reading of inOrder([before, after])) readings.push(reading);
  const texts = readings.flatMap(({ measured }) =>
    measured.kind === 'text' ? [measured.text] : [],
  );
  const count = await distinctOver(context, wanted, [...new Set(texts)]);
  if (count === null) return null;
  const others: Measured = { kind: 'sums', count, total: zero, moment: zero };
  return inOrder([of(readings), of([readingAt(wanted.span.start, others)])]);
}

async function* of<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items;
}

async function hourReadings(
  context: UsageReads,
  question: UsageQuestion,
  wanted: WantedHours,
  keeps: Keeps,
  raw: (part: Span) => Readings,
): Promise<Readings | null> {
  const { windows, aggregation, zone } = question;
  const size = aggregation.bucket_size;
  const inWindows = windows && stretchesOf(windows);
  switch (keeps) {
    case 'sums':
    case 'levels':
    case 'greatest':
    case 'latest': {
      if (inWindows === null) {
        const sums = await sumsOver(context, wanted);
        return sums && of(sumsReading(keeps, sums));
      }
      const rows = sumsByHour(context, wanted);
      return await wholeHours(rows, [inWindows], (sums) => sumsReading(keeps, sums), raw);
    }
    case 'distinct': {
      const rows = distinctByHour(context, wanted);
      const reading = ({ at, digest }: Digested) => [readingAt(at, { kind: 'text', text: digest })];
      return await wholeHours(rows, inWindows ? [inWindows] : [], reading, raw);
    }
    case 'buckets': {
      const buckets = stretchesOf({ size: size ?? 'HOUR', zone });
      const rows = greatestOfBuckets(context, wanted);
      const reading = ({ at, digest, greatest: value }: Digested): Reading[] => [
        { at, measured: { kind: 'number', value }, bucket: buckets.startOf(at), group: digest },
      ];
      return await wholeHours(rows, inWindows ? [inWindows, buckets] : [buckets], reading, raw);
    }
    case 'groups':
      // No aggregation is told from those: its own measure is looked for first.
      return null;
    default:
      return keeps satisfies never;
  }
}

const readingAt = (at: Instant, measured: Measured): Reading => ({
  at,
  measured,
  ...outsideBuckets,
});

/** The readings that sums are: none where there was nothing. */
function sumsReading(
  keeps: 'sums' | 'levels' | 'greatest' | 'latest',
  { at, count, total, moment, greatest, latest }: Sums,
): readonly Reading[] {
  switch (keeps) {
    case 'sums':
    case 'levels':
      return [readingAt(at, { kind: 'sums', count, total, moment })];
    case 'greatest':
      return greatest === null ? [] : [readingAt(at, { kind: 'number', value: greatest })];
    case 'latest':
      return latest === null ? [] : [readingAt(at, { kind: 'number', value: latest })];
    default:
      return keeps satisfies never;
  }
}

/** The readings of what is kept; of an hour that a window or a bucket cuts, those of its events. */
export async function wholeHours<Row extends { readonly at: Instant }>(
  pages: Pages<Row>,
  stretches: readonly Stretches[],
  readingsOf: (row: Row) => readonly Reading[],
  raw: (part: Span) => Readings,
): Promise<Readings | null> {
  const first = await pages.next();
  if (first.done) return null;
  return fitted(first.value, pages, stretches, readingsOf, raw);
}

async function* fitted<Row extends { readonly at: Instant }>(
  first: readonly Row[],
  rest: Pages<Row>,
  stretches: readonly Stretches[],
  readingsOf: (row: Row) => readonly Reading[],
  raw: (part: Span) => Readings,
): AsyncGenerator<Reading> {
  let hour: Instant | null = null;
  let isWhole = true;
  for await (const page of inOrderOf(first, rest)) {
    for (const row of page) {
      const own = hourOf(row.at);
      const isNext = own !== hour;
      if (isNext) isWhole = stretches.every((one) => one.fits(own));
      hour = own;
      if (isWhole) yield* readingsOf(row);
      else if (isNext) yield* raw({ start: own, end: hourAfter(own) });
    }
  }
}

async function* inOrderOf<Page>(first: Page, rest: AsyncIterable<Page>): AsyncGenerator<Page> {
  yield first;
  yield* rest;
}
