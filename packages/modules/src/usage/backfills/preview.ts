import { type RequestContext, where } from '@counterfoil/engine/define';
import { type DecimalText, type Instant, shiftedBy } from '@counterfoil/kernel';
import { customerReference } from '../../customers/index.ts';
import { featureRecords } from '../../features/index.ts';
import type { CountedEvent } from '../event-queries.ts';
import { measuredReadings } from '../raw-readings.ts';
import { usageTables } from '../tables.ts';
import { firstPage, metersOf } from '../trace/meters.ts';
import { usageOf } from '../usage-query.ts';
import type { UsageQuestion } from '../usage-question.ts';
import { type Backfill, requireOpen } from './backfill.ts';
import { type WaitingGroup, waitingGroups, waitingOf, waitingTotals } from './queries.ts';
import type { BackfillPreview, PreviewQuery } from './schema.ts';

/**
 * The figures of the span of an open backfill, as they are and as they will be once it is closed: of each customer and
 * event name among the events that wait, by each meter of the name. Throws 400 for a backfill that has ended.
 */
export async function previewOf(
  context: RequestContext,
  id: BackfillPreview['backfill_id'],
  backfill: Backfill,
  { limit, offset }: PreviewQuery,
): Promise<BackfillPreview> {
  requireOpen(backfill);
  const position = await context.facts.shown(usageTables);
  const { groups: total, ...totals } = await waitingTotals(context, id);
  const groups = await waitingGroups(context, id, { limit, offset });
  const meters = await metersOf(context, [...new Set(groups.map((one) => one.event_name))]);
  const features = await featuresOf(
    context,
    meters.map((meter) => meter.id),
  );
  const span = { start: backfill.start_time, end: backfill.end_time };
  const items: BackfillPreview['items'] = [];
  for (const group of groups) {
    const { external_id: external_customer_id, event_name, customer_id, events } = group;
    const asked = await customerOf(context, group);
    const figures: BackfillPreview['items'][number]['figures'] = [];
    for (const meter of meters.filter((one) => one.event_name === event_name)) {
      const { aggregation, filters } = meter;
      const of = { eventName: event_name, customer: asked.customer };
      const whole = { windows: null, fills: false, span, zone: asked.zone };
      const question = { ...whole, of, aggregation, filters };
      figures.push({
        meter_id: meter.id,
        meter_name: meter.name,
        type: aggregation.type,
        feature_ids: features.flatMap((each) => (each.meter_id === meter.id ? each.id : [])),
        before: (await usageOf(context, question)).value,
        after: await valueAfter(context, id, group, question),
      });
    }
    items.push({ external_customer_id, customer_id, event_name, events, figures });
  }
  return { backfill_id: id, position, ...totals, items, pagination: { limit, offset, total } };
}

async function featuresOf(context: RequestContext, meterIds: readonly string[]) {
  const { items } = await context.read.list(featureRecords.table, firstPage, [
    ...where('meter_id', 'in', meterIds),
    ...where('status', 'eq', 'published'),
  ]);
  return items;
}

async function customerOf(
  context: RequestContext,
  { customer_id, external_id }: WaitingGroup,
): Promise<{ readonly customer: UsageQuestion['of']['customer']; readonly zone: string }> {
  if (customer_id === null) return { customer: { kind: 'external', id: external_id }, zone: 'UTC' };
  const { timezone } = await customerReference(context, { customer_id });
  return { customer: { kind: 'customer', id: customer_id }, zone: timezone };
}

/**
 * The answer to a question without windows, were the waiting events of a group among those that count: they would
 * stand in the log behind all others.
 */
export async function valueAfter(
  context: RequestContext,
  backfillId: string,
  group: Pick<WaitingGroup, 'external_id' | 'event_name'>,
  question: UsageQuestion,
): Promise<DecimalText | null> {
  const waiting = () => waitingInOrder(context, backfillId, group);
  const beside = (known?: (text: string) => string) => measuredReadings(waiting(), question, known);
  const span =
    question.aggregation.type === 'LATEST'
      ? { ...question.span, start: await firstThatIsLater(question, beside()) }
      : question.span;
  return (await usageOf(context, { ...question, span }, beside)).value;
}

/** The instant from which on an event is later than all that wait and have a value: only such a one hides them. */
async function firstThatIsLater(
  { span }: UsageQuestion,
  readings: ReturnType<typeof measuredReadings>,
): Promise<Instant> {
  let start = span.start;
  for await (const { at, measured } of readings) {
    if (measured.kind === 'number') start = shiftedBy(at, 1);
  }
  return start;
}

/** Events that one statement reads. */
const portion = 10_000;

async function* waitingInOrder(
  context: RequestContext,
  backfillId: string,
  group: Pick<WaitingGroup, 'external_id' | 'event_name'>,
): AsyncGenerator<CountedEvent> {
  let after: Awaited<ReturnType<typeof waitingOf>>[number] | null = null;
  for (;;) {
    const rows: Awaited<ReturnType<typeof waitingOf>> = await waitingOf(
      context,
      backfillId,
      group,
      { after, limit: portion },
    );
    for (const { at, properties } of rows) {
      yield { at: at as Instant, properties: properties === null ? {} : JSON.parse(properties) };
    }
    if (rows.length < portion) return;
    after = rows.at(-1) ?? null;
  }
}
