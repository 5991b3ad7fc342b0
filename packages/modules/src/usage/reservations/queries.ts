import { factStatement } from '@counterfoil/engine/define';
import { type Decimal, decimal, type Instant, zero } from '@counterfoil/kernel';
import { sql } from 'kysely';
import { environmentOf } from '../numbers.ts';
import type { UsageTables } from '../table-definitions.ts';
import { usageTables } from '../tables.ts';
import { hashOfId, type KnownUsage } from '../usage-event.ts';
import type { UsageReads } from '../usage-reads.ts';

/** The sums of a reservation, as the tables have them. Neither ever falls. */
export interface ReservedSums {
  readonly counted: Decimal;
  readonly voided: Decimal;
}

type SumsGiven = { readonly environment: string; readonly reservation: string };
type SumsRow = { readonly counted: string; readonly voided: string };

const sumsOfReservation = factStatement<UsageTables, SumsGiven, SumsRow>(
  usageTables,
  (from, given) =>
    from
      .selectFrom('reserved_usage')
      .select(['reserved_usage.counted', 'reserved_usage.voided'])
      .where('reserved_usage.environment', '=', environmentOf(from, given))
      .where('reserved_usage.reservation', '=', given.reservation),
);

/** The sums of a reservation. */
export async function reservedSums(
  { facts, principal }: UsageReads,
  reservation: string,
): Promise<ReservedSums> {
  const given = { environment: principal.environmentId, reservation };
  const [row] = await facts.ask(sumsOfReservation, given);
  if (!row) return { counted: zero, voided: zero };
  return { counted: decimal(row.counted), voided: decimal(row.voided) };
}

/** Usage that is known by its event id, with the reservation by which it came; null for plain usage. */
export interface KnownByEvent extends KnownUsage {
  readonly reservation: string | null;
}

type EventGiven = { readonly environment: string; readonly id: string };
type EventRow = {
  readonly content: string;
  readonly at: string;
  readonly reservation: string | null;
};

const knownEvent = factStatement<UsageTables, EventGiven, EventRow>(usageTables, (from, given) =>
  from
    .selectFrom('identity')
    .leftJoin('reserved_event', (join) =>
      join
        .onRef('reserved_event.environment', '=', 'identity.environment')
        .onRef('reserved_event.position', '=', 'identity.position')
        .onRef('reserved_event.number', '=', 'identity.number'),
    )
    .select([
      sql<string>`replace(identity.content::text, '-', '')`.as('content'),
      'identity.at',
      'reserved_event.reservation',
    ])
    .where('identity.environment', '=', environmentOf(from, given))
    .where('identity.id', '=', sql<string>`${given.id}::uuid`),
);

/** The usage that the tables know under an event id; null for none. */
export async function knownByEvent(
  { facts, principal }: UsageReads,
  eventId: string,
): Promise<KnownByEvent | null> {
  const given = { environment: principal.environmentId, id: hashOfId(eventId) };
  const [row] = await facts.ask(knownEvent, given);
  return row ? { ...row, timestamp: row.at as Instant } : null;
}
