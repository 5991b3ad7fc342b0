import type { RequestContext } from '@counterfoil/engine/define';
import { invalidField, type Span } from '@counterfoil/kernel';
import { sql } from 'kysely';
import { usageInGroups } from '../analytics/usage-in-groups.ts';
import { askedSpan } from '../asked-span.ts';
import { readKept } from '../retention/refuse-dropped.ts';
import { usageTables } from '../tables.ts';
import { metersOf, type NamedMeter } from '../trace/meters.ts';
import type { RejectedCounts, RejectedCountsQuery } from './schema.ts';

const day = 86_400_000;

/** Event names and meters that one answer counts: each meter costs two questions. */
const namesMaximum = 1_000;
const metersMaximum = 100;

/**
 * The events of a span that are not counted, by name and reason, as things stand. One that is not counted for several
 * reasons is in the number of each.
 */
export async function rejectedCounts(
  context: RequestContext,
  { event_name, ...asked }: RejectedCountsQuery,
): Promise<RejectedCounts> {
  const span = askedSpan(context.now, asked, day);
  const position = await context.facts.shown(usageTables);
  const about = { eventName: event_name ?? null, spans: [span] };
  const names = await readKept(context, about, () => countedNames(context, span, event_name));
  const meters = await metersOf(
    context,
    names.map((one) => one.event_name),
  );
  if (names.length > namesMaximum || meters.length > metersMaximum) throw tooMany();
  const items: RejectedCounts['items'] = [];
  for (const { event_name: name, events, nobodys } of names) {
    const own = meters.filter((meter) => meter.event_name === name);
    items.push({ event_name: name, reason: 'unknown_customer', event_count: +nobodys });
    if (own.length === 0) {
      items.push({ event_name: name, reason: 'unknown_name', event_count: +events });
    }
    for (const meter of own) {
      const event_count = await badValues(context, meter, span);
      items.push({ event_name: name, reason: 'bad_value', meter_id: meter.id, event_count });
    }
  }
  return {
    start_time: span.start,
    end_time: span.end,
    items: items.filter(({ event_count }) => event_count > 0),
    position,
  };
}

const tooMany = () =>
  invalidField(
    '/event_name',
    `is required: there are more than ${namesMaximum} event names or ${metersMaximum} meters in the span`,
  );

/** The events that the filters of a meter let in, less those in which it finds a value. */
async function badValues(
  context: RequestContext,
  { event_name, aggregation, filters }: NamedMeter,
  span: Span,
): Promise<number> {
  const question = {
    ...{ of: { eventName: event_name, customer: { kind: 'all' } as const }, filters, span },
    ...{ sources: [], groupings: [], zone: 'UTC', windows: null },
  };
  const plain = { field: null, expression: null, multiplier: null, bucket_size: null };
  const all = { ...plain, type: 'COUNT', group_by: null } as const;
  const [passed] = await usageInGroups(context, { ...question, aggregation: all });
  const [counted] = await usageInGroups(context, { ...question, aggregation });
  // An event may come between the two questions.
  return Math.max(0, (passed?.events ?? 0) - (counted?.events ?? 0));
}

/** The names of the events of a span, with how many there are, and how many are nobody's. */
const countedNames = (
  { facts, principal }: RequestContext,
  { start, end }: Span,
  name: string | undefined,
) =>
  facts.query(usageTables, (from) =>
    from
      .selectFrom('event')
      .innerJoin('environment', 'environment.number', 'event.environment')
      .innerJoin('account', 'account.number', 'event.account')
      .innerJoin('event_name', 'event_name.number', 'event.name')
      .select([
        'event_name.name as event_name',
        (row) => row.fn.countAll<string>().as('events'),
        sql<string>`count(*) filter (where account.customer_id is null)`.as('nobodys'),
      ])
      .where('environment.environment_id', '=', principal.environmentId)
      .where('event.at', '>=', start)
      .where('event.at', '<', end)
      .$if(name !== undefined, (rest) => rest.where('event_name.name', '=', name ?? ''))
      .groupBy('event_name.name')
      .orderBy('event_name.name')
      .limit(namesMaximum + 1),
  );
