import type { AskingContext } from '@counterfoil/engine/define';
import {
  canonicalJson,
  type DecimalText,
  decimal,
  decimalPlaces,
  divide,
  type Instant,
  type Span,
  textOf,
  zero,
  zeroText,
} from '@counterfoil/kernel';
import type { Aggregation, MeterRecord } from '../../meters/index.ts';
import {
  type Allowance,
  type AllowanceRhythm,
  type MeteredBy,
  type Usage,
  type UsageBucket,
  usageWindows,
} from '../../rating/index.ts';
import type { UsageStretch, usageInStretches } from '../../usage/index.ts';
import { billableLength } from '../settlement/index.ts';

/** The meter of a line, whose usage is measured for one customer or several together. */
export interface Measured {
  readonly meter: MeterRecord;
  /** The stretches of a span in which usage counts, and whose. */
  readonly stretchesIn: (span: Span) => readonly UsageStretch[];
  readonly zone: string;
  /** The position of the log that the tables of usage show. */
  readonly position: string;
  /** The reading of usage itself. */
  readonly usageIn: typeof usageInStretches;
}

/** Reads usage that is asked for again only once: an allowance mostly starts over with the span that is billed. */
export function readOnce(usageIn: typeof usageInStretches): typeof usageInStretches {
  const known = new Map<string, ReturnType<typeof usageInStretches>>();
  return (context, question) => {
    // Spans of the log have their members in another order than those that are made here.
    const text = canonicalJson(question);
    const usage = known.get(text) ?? usageIn(context, question);
    known.set(text, usage);
    return usage;
  };
}

const aggregationOf = ({ meter }: Measured): Aggregation => meter.aggregation as Aggregation;

/** The groups of usage in a span, each with its buckets where they are asked for. */
function groupsIn(
  context: AskingContext,
  measured: Measured,
  span: Span,
  inBuckets: boolean,
  stretches = measured.stretchesIn(span),
) {
  const { meter, zone } = measured;
  const aggregation = aggregationOf(measured);
  const { bucket_size: size, group_by } = aggregation;
  return measured.usageIn(context, {
    eventName: meter.event_name,
    stretches,
    aggregation,
    filters: meter.filters,
    sources: [],
    groupings: inBuckets && group_by ? [{ kind: 'property', name: group_by }] : [],
    span,
    zone,
    windows: inBuckets && size ? { size, zone } : null,
  });
}

async function valueIn(
  context: AskingContext,
  measured: Measured,
  span: Span | null,
): Promise<{ readonly value: DecimalText; readonly events: number }> {
  if (span === null) return { value: zeroText, events: 0 };
  if (aggregationOf(measured).type === 'WEIGHTED_SUM') return levelIn(context, measured, span);
  const [found] = await groupsIn(context, measured, span, false);
  return { value: found?.value ?? zeroText, events: found?.events ?? 0 };
}

/** The mean of a level over the stretches of a span in which it counts: it goes on between them, and is not billed. */
async function levelIn(context: AskingContext, measured: Measured, span: Span) {
  const stretches = measured.stretchesIn(span);
  let [area, length, events] = [zero, zero, 0];
  for (const stretch of stretches) {
    const [found] = await groupsIn(context, measured, stretch.span, false, [stretch]);
    const time = decimal(String(billableLength(stretch.span, [])));
    area = area.plus(decimal(found?.value ?? zeroText).times(time));
    length = length.plus(time);
    events += found?.events ?? 0;
    if (stretches.length === 1) return { value: found?.value ?? zeroText, events };
  }
  if (length.eq(zero)) return { value: zeroText, events };
  return { value: textOf(divide(area, length, decimalPlaces.quantity)), events };
}

const meteredBy = (measured: Measured, events: number): MeteredBy => ({
  meter_id: measured.meter.id,
  aggregation: aggregationOf(measured).type,
  events,
  position: measured.position,
});

/** The usage of a span as rating takes it where nothing is free: in its buckets, where the meter has them. */
export async function plainUsage(
  context: AskingContext,
  measured: Measured,
  span: Span,
): Promise<Usage> {
  const { bucket_size: size } = aggregationOf(measured);
  if (size === null) {
    const { value, events } = await valueIn(context, measured, span);
    const window = { ...span, before: zeroText, through: value };
    return { kind: 'windows', metered_by: meteredBy(measured, events), windows: [window] };
  }
  const groups = await groupsIn(context, measured, span, true);
  const buckets = groups.flatMap(({ group, windows }) =>
    windows.map(
      ({ start, value }): UsageBucket => ({
        start: start as Instant,
        group: group[0] ?? '',
        quantity: value ?? zeroText,
      }),
    ),
  );
  const events = groups.reduce((sum, group) => sum + group.events, 0);
  return {
    kind: 'buckets',
    metered_by: meteredBy(measured, events),
    rhythm: { size, zone: measured.zone },
    buckets: buckets.sort(
      (left, right) => inOrder(left.start, right.start) || inOrder(left.group, right.group),
    ),
  };
}

const inOrder = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);

/** The usage of a span as rating takes an allowance from it: by the periods of the allowance. */
export async function usageUnder(
  context: AskingContext,
  measured: Measured,
  span: Span,
  { limit }: Allowance,
  rhythm: AllowanceRhythm,
): Promise<Usage> {
  // What is unlimited is free, however it was measured.
  if (limit === null) return plainUsage(context, measured, span);
  const wanted = usageWindows(span, aggregationOf(measured).type, rhythm);
  const windows = [];
  let events = 0;
  for (const { start, end, before, through } of wanted) {
    const used = await valueIn(context, measured, through);
    const earlier = await valueIn(context, measured, before);
    events += used.events - earlier.events;
    windows.push({ start, end, before: earlier.value, through: used.value });
  }
  return { kind: 'windows', metered_by: meteredBy(measured, events), windows };
}
