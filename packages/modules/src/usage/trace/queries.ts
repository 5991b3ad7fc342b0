import { type RequestContext, where } from '@counterfoil/engine/define';
import { type DecimalText, type Instant, notFound, shiftedBy } from '@counterfoil/kernel';
import { featureRecords } from '../../features/index.ts';
import type { Properties } from '../aggregation/measure.ts';
import { eventView, listEvents, placeOfUsage } from '../queries.ts';
import { refuseDropped } from '../retention/refuse-dropped.ts';
import type { UsageEventResource } from '../schema.ts';
import { usageTables } from '../tables.ts';
import { firstPage, metersOf } from './meters.ts';
import type { LookedUpEvent, UsageEventTrace } from './schema.ts';
import { lookOf } from './trace.ts';

/** A usage event by its id, and what each meter of its name makes of it. Throws 404 when there is none. */
export async function tracedEvent(
  context: RequestContext,
  { id, external_customer_id, start_time, end_time }: LookedUpEvent,
): Promise<UsageEventTrace> {
  const place = await placeOfUsage(context, id);
  if (!place) throw notFound('usage event', id);
  const trace = await traceAt(context, id, place);
  const { event } = trace;
  const isOther =
    (external_customer_id !== undefined && event.external_customer_id !== external_customer_id) ||
    (start_time !== undefined && event.timestamp < start_time) ||
    (end_time !== undefined && event.timestamp >= end_time);
  if (isOther) throw notFound('usage event', id);
  return trace;
}

async function traceAt(
  context: RequestContext,
  id: string,
  { at, position }: { readonly at: Instant; readonly position: string },
): Promise<UsageEventTrace> {
  const event = await eventAt(context, id, at);
  if (!event) return await voidedEvent(context, id, { at, position });
  const looks = await looksAt(context, event);
  const meters = looks.map(({ shown }) => shown);
  const isWaiting = event.customer_id === null || meters.length === 0;
  const isCounted = meters.some(({ counted }) => counted);
  return {
    event,
    position,
    status: isWaiting ? 'processing' : isCounted ? 'processed' : 'failed',
    reasons: reasonsFor(event, meters),
    processed_events: processedIn(event, looks),
    meters,
  };
}

/** The quantities that an event is counted with, by meter and feature. */
function processedIn(
  { customer_id }: UsageEventResource,
  looks: readonly Look[],
): UsageEventTrace['processed_events'] {
  if (customer_id === null) return [];
  return looks.flatMap(({ shown: { meter_id, feature_ids }, quantity }) => {
    if (quantity === null) return [];
    const own = { customer_id, meter_id, qty_total: quantity };
    return feature_ids.length === 0
      ? [own]
      : feature_ids.map((feature_id) => ({ ...own, feature_id }));
  });
}

/** A meter's look at an event, and the quantity that it takes; null for none. */
interface Look {
  readonly shown: UsageEventTrace['meters'][number];
  readonly quantity: DecimalText | null;
}

function reasonsFor(event: UsageEventResource, meters: UsageEventTrace['meters']): string[] {
  const { event_name, external_customer_id, customer_id } = event;
  return [
    ...(customer_id === null ? [`No customer has the external id ${external_customer_id}.`] : []),
    ...(meters.length === 0 ? [`No meter counts events of the name ${event_name}.`] : []),
    ...(meters.length > 0 && !meters.some(({ counted }) => counted)
      ? [`None of its ${meters.length} meters can count it.`]
      : []),
  ];
}

async function looksAt(context: RequestContext, event: UsageEventResource): Promise<Look[]> {
  const items = await metersOf(context, [event.event_name]);
  const features = await context.read.list(featureRecords.table, firstPage, [
    ...where(
      'meter_id',
      'in',
      items.map(({ id }) => id),
    ),
    ...where('status', 'eq', 'published'),
  ]);
  return items.map((meter) => {
    const look = lookOf(meter, event.properties as Properties);
    const shown = {
      meter_id: meter.id,
      meter_name: meter.name,
      counted: look.counted,
      ...(look.counted ? { value: look.value } : { value: null, reason: look.reason }),
      feature_ids: features.items.flatMap((each) => (each.meter_id === meter.id ? each.id : [])),
    };
    return { shown, quantity: look.counted ? look.quantity : null };
  });
}

/** A usage event that was voided. Throws 404 for one that is not there, nor void, and 400 for one that is dropped. */
async function voidedEvent(
  context: RequestContext,
  id: string,
  { at, position }: { readonly at: Instant; readonly position: string },
): Promise<UsageEventTrace> {
  const { facts, principal } = context;
  const { environmentId } = principal;
  const rows = await facts.query(usageTables, (from) =>
    from
      .selectFrom('voided')
      .innerJoin('environment', 'environment.number', 'voided.environment')
      .innerJoin('account', 'account.number', 'voided.account')
      .innerJoin('event_name', 'event_name.number', 'voided.name')
      .select([
        'voided.event_id',
        'event_name.name as event_name',
        'account.external_id',
        'account.customer_id',
        'voided.at',
        'voided.source',
        'voided.properties',
        'voided.voided_at',
        'voided.reason',
      ])
      .where('environment.environment_id', '=', environmentId)
      .where('voided.position', '=', position)
      .where('voided.event_id', '=', id),
  );
  const [row] = rows;
  if (!row) {
    const span = { start: at, end: shiftedBy(at, 1) };
    await refuseDropped(context, { eventName: null, spans: [span] });
    throw notFound('usage event', id);
  }
  const reason = row.reason === null ? '' : `: ${row.reason}`;
  return {
    event: eventView(environmentId, row),
    position,
    status: 'voided',
    reasons: [`It was voided at ${row.voided_at}${reason}`],
    processed_events: [],
    meters: [],
  };
}

/** The event with an id at an instant; null while nothing of it is shown. */
async function eventAt(
  context: RequestContext,
  event_id: string,
  at: Instant,
): Promise<UsageEventResource | null> {
  const { events } = await listEvents(context, {
    event_id,
    start_time: at,
    end_time: shiftedBy(at, 1),
    page_size: 1,
    order: 'desc',
  });
  return events[0] ?? null;
}
