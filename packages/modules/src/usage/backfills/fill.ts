import type { RequestContext } from '@counterfoil/engine/define';
import { type FieldProblem, invalidOperation, Problem } from '@counterfoil/kernel';
import { identifiedEvent, sortOut } from '../ingestion.ts';
import type { IngestedEvent } from '../schema.ts';
import { type UsageEvent, usageIntake } from '../usage-event.ts';
import { type Backfill, requireOpen } from './backfill.ts';
import { backfillLimits } from './limits.ts';
import { waitingCount, waitingWith } from './queries.ts';

/** The number of events of a request that were recorded or wait already, and those in conflict. */
export interface Filled {
  readonly accepted: number;
  readonly repeated: number;
  readonly conflicts: readonly { readonly index: number; readonly event_id: string }[];
}

/**
 * Records events that wait in a backfill, and resolves when they are durable. Throws 400 for a backfill that has ended or
 * is full, and for events of another source or time. The order of the log decides in the end: what comes behind the closing is
 * listed as refused.
 */
export async function fillBackfill(
  context: RequestContext,
  id: string,
  backfill: Backfill,
  given: readonly IngestedEvent[],
): Promise<Filled> {
  requireOpen(backfill);
  refuseOthers(backfill, given);
  const events = given.map((event): UsageEvent => {
    const { event_id = context.newId('event'), timestamp = context.now, ...rest } = event;
    const { source: _, properties, ...fields } = rest;
    const isEmpty = properties === undefined || Object.keys(properties).length === 0;
    const own = { event_id, timestamp, source: backfill.source, backfill_id: id };
    return { ...fields, ...own, ...(isEmpty ? {} : { properties }) };
  });
  const identified = events.map(identifiedEvent);
  const ids = identified.map(({ identity }) => identity.id);
  const known = await atOnce(waitingWith(context, id, ids), nothing);
  const { fresh, conflicts } = sortOut(identified, (one) => known.get(one));
  const accepted = fresh.size;
  if (accepted > 0) {
    await refuseBeyondLimit(context, id, accepted);
    const texts = [...fresh.values()].map(({ text }) => text);
    await context.record(usageIntake, texts);
  }
  return { accepted, repeated: events.length - accepted - conflicts.length, conflicts };
}

const nothing: Awaited<ReturnType<typeof waitingWith>> = new Map();

/** A read that nobody depends on: while the tables cannot be read, the order of the log decides alone. */
const atOnce = <Result>(read: Promise<Result>, otherwise: Result): Promise<Result> =>
  read.catch((error: unknown) => {
    if (error instanceof Problem && error.code === 'service_unavailable') return otherwise;
    throw error;
  });

/** Refuses events that are not of the source and the span, each by its pointer. */
export function refuseOthers(
  { source, start_time, end_time }: Pick<Backfill, 'source' | 'start_time' | 'end_time'>,
  given: readonly IngestedEvent[],
): void {
  const errors = given.flatMap((event, index): FieldProblem[] => {
    const at = (field: string): string => `/events/${index}/${field}`;
    const { timestamp } = event;
    const isWithin = timestamp !== undefined && timestamp >= start_time && timestamp < end_time;
    return [
      ...(isWithin
        ? []
        : [
            {
              pointer: at('timestamp'),
              message: `must lie in the span of the backfill, from ${start_time} to before ${end_time}`,
            },
          ]),
      ...(event.source === undefined || event.source === source
        ? []
        : [
            {
              pointer: at('source'),
              message: `must be that of the backfill, ${source}, or absent`,
            },
          ]),
    ];
  });
  const [first] = errors;
  if (!first) return;
  const message = `${first.pointer.slice(1)}: ${first.message}`;
  throw new Problem('validation_error', message, { errors: errors.slice(0, errorsMaximum) });
}

const errorsMaximum = 1_000;

/** As far as the tables tell: what goes beyond it all the same is listed as refused. */
async function refuseBeyondLimit(context: RequestContext, id: string, more: number): Promise<void> {
  const { events: limit } = backfillLimits;
  const waiting = await atOnce(waitingCount(context, id), 0);
  if (waiting + more <= limit) return;
  throw invalidOperation(
    `${waiting} events wait in the backfill, and ${limit} is the limit. Close it and open another one.`,
    { reason: 'limit_reached', limit },
  );
}
