import { factStatement } from '@counterfoil/engine/define';
import { invalidOperation, Problem, type Span } from '@counterfoil/kernel';
import { sql } from 'kysely';
import { environmentOf, ofShapes } from '../numbers.ts';
import type { UsageTables } from '../table-definitions.ts';
import { usageTables } from '../tables.ts';
import type { UsageReads } from '../usage-reads.ts';

/** Events that are read one by one: those of a name, or of all names, in some stretches of time. */
export interface ReadEvents {
  readonly eventName: string | null;
  readonly spans: readonly Span[];
}

type Given = {
  readonly environment: string;
  readonly name: string;
  readonly starts: readonly string[];
  readonly ends: readonly string[];
};

const droppedOf = ofShapes((hasName: boolean) =>
  factStatement<UsageTables, Given, { readonly month: string }>(usageTables, (from, given) =>
    from
      .selectFrom('dropped_usage')
      .select('dropped_usage.month')
      .distinct()
      .where('dropped_usage.environment', '=', environmentOf(from, given))
      .$if(hasName, (rows) =>
        rows.where('dropped_usage.name', '=', (names) =>
          names
            .selectFrom('event_name')
            .select('event_name.number')
            .where('event_name.environment', '=', environmentOf(from, given))
            .where('event_name.name', '=', given.name),
        ),
      )
      .where(sql<boolean>`(dropped_usage.until is null or dropped_usage.until > clock_timestamp())`)
      .where(
        sql<boolean>`exists (select from unnest(${given.starts}::timestamptz[], ${given.ends}::timestamptz[])
          as span (start_at, end_at)
          where dropped_usage.first_at < span.end_at and dropped_usage.last_at >= span.start_at)`,
      )
      .orderBy('dropped_usage.month'),
  ),
);

/** The months in which events are dropped that a read is about, in the order of time. */
async function droppedMonths(
  { facts, principal }: UsageReads,
  { eventName, spans }: ReadEvents,
): Promise<readonly string[]> {
  const given: Given = {
    environment: principal.environmentId,
    name: eventName ?? '',
    starts: spans.map(({ start }) => start),
    ends: spans.map(({ end }) => end),
  };
  const rows = await facts.ask(droppedOf(eventName !== null), given);
  return rows.map(({ month }) => month);
}

/** Throws where events are dropped that a read would be about. */
export async function refuseDropped(reads: UsageReads, about: ReadEvents): Promise<void> {
  const months = await droppedMonths(reads, about);
  if (months.length > 0) throw noLongerKept(months);
}

/**
 * Reads events one by one, and tells of which months some are dropped. It looks for these after it has read, in the same tables: what was
 * there then is read, and what comes back is said to be away for longer than a read lasts.
 */
export async function readWithDropped<Rows>(
  reads: UsageReads,
  read: () => Promise<Rows>,
  about: (rows: Rows) => ReadEvents,
): Promise<{ readonly rows: Rows; readonly dropped: readonly string[] }> {
  const before = reads.facts.filling(usageTables);
  const rows = await read();
  const dropped = await droppedMonths(reads, about(rows));
  if (reads.facts.filling(usageTables) !== before) throw exchanged();
  return { rows, dropped };
}

/** Reads events one by one for a figure. Throws where some of them are dropped: a figure without them would be wrong. */
export async function readKept<Rows>(
  reads: UsageReads,
  about: ReadEvents,
  read: () => Promise<Rows>,
): Promise<Rows> {
  const { rows, dropped } = await readWithDropped(reads, read, () => about);
  if (dropped.length > 0) throw noLongerKept(dropped);
  return rows;
}

const noLongerKept = (months: readonly string[]): Problem =>
  invalidOperation(
    `The usage of ${months.join(', ')} is no longer kept event by event, and this needs its events. ` +
      'Ask for whole hours of what a meter counts, or have the months brought back by whoever operates the service.',
    { reason: 'no_longer_kept', months },
  );

/** Readers were switched, while they read, to other tables. */
export const exchanged = (): Problem =>
  new Problem('service_unavailable', 'The tables of usage were exchanged. Retry shortly.', {
    retryAfterSeconds: 1,
  });
