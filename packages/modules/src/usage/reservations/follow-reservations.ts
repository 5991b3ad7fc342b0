import { arrayText, type FillSession, type RecordChange } from '@counterfoil/engine/define';
import type { Stamped } from '@counterfoil/kernel';
import { type PlacedUsage, placedAt } from '../placed-usage.ts';
import type { UsageReservationEvent } from './usage-reservation.ts';

/** The usage that a reservation has let through, in its place in the log. */
export function placedReservation({ environmentId, event }: RecordChange): PlacedUsage {
  const { data, stamp } = event as unknown as Stamped<UsageReservationEvent>;
  const { position, aggregate_id: id } = event;
  const place = { environmentId, recordedAt: stamp.occurred_at, position, number: 0 };
  return { ...placedAt(place, data.usage), reservation: { id, quantity: data.quantity } };
}

/** Adds what was counted of reservations to their sums. */
export async function countReserved(
  { query, schema }: FillSession,
  fresh: readonly PlacedUsage[],
  numberOf: (one: PlacedUsage) => number,
): Promise<void> {
  const reserved = fresh.flatMap((one) => {
    const { reservation, position, number } = one;
    return reservation ? [{ environment: numberOf(one), position, number, reservation }] : [];
  });
  if (reserved.length === 0) return;
  await query(
    `with counted as (
       insert into ${schema}.reserved_event (environment, position, number, reservation, quantity)
       select * from unnest($1::int[], $2::bigint[], $3::int[], $4::text[], $5::numeric[])
       returning environment, reservation, quantity)
     insert into ${schema}.reserved_usage (environment, reservation, counted, voided)
     select environment, reservation, sum(quantity), 0 from counted group by environment, reservation
         on conflict (environment, reservation)
         do update set counted = reserved_usage.counted + excluded.counted`,
    [
      arrayText(reserved.map(({ environment }) => environment)),
      arrayText(reserved.map(({ position }) => position)),
      arrayText(reserved.map(({ number }) => number)),
      arrayText(reserved.map(({ reservation }) => reservation.id)),
      arrayText(reserved.map(({ reservation }) => reservation.quantity)),
    ],
  );
}

/** Notes that an event counts no more, where it came by a reservation. */
export async function voidReserved(
  { query, schema }: FillSession,
  environment: number,
  { position, number }: Pick<PlacedUsage, 'position' | 'number'>,
): Promise<void> {
  await query(
    `update ${schema}.reserved_usage
        set voided = reserved_usage.voided + reserved_event.quantity
       from ${schema}.reserved_event
      where reserved_event.environment = $1 and reserved_event.position = $2
        and reserved_event.number = $3 and reserved_usage.environment = $1
        and reserved_usage.reservation = reserved_event.reservation`,
    [environment, position, number],
  );
}
