import type { FillSession } from '@counterfoil/engine/define';
import { type Instant, invariant } from '@counterfoil/kernel';
import { monthTextOf } from '../month.ts';
import { voidReserved } from '../reservations/follow-reservations.ts';
import type { KeptMonths } from '../retention/kept-months.ts';
import { hourOf, type RollUps } from '../roll-ups/index.ts';
import { hashOfId } from '../usage-event.ts';
import type { TouchedUsage } from '../watcher.ts';

/** A void, as the tables take it. */
export interface TakenVoid {
  readonly environment: number;
  readonly eventId: string;
  readonly reason: string | null;
  readonly position: string;
  readonly voidedAt: Instant;
}

/** Notes an event that is void and still in the figures of its hour: no measure has that hour any more. */
async function noteUnsettled(
  { query, schema }: FillSession,
  environment: number,
  { at, position, number }: Place,
): Promise<void> {
  const month = monthTextOf(at);
  await query(
    `insert into ${schema}.pending_void (environment, position, number, at, month)
     values ($1, $2, $3, $4, $5)`,
    [environment, position, number, at, month],
  );
  await query(
    `insert into ${schema}.measure_gap (environment, measure, month, first_at, last_at)
     select environment, number, $2, $3::timestamptz, $4::timestamptz from ${schema}.measure
      where environment = $1 and not is_retired`,
    [environment, month, hourOf(at), at],
  );
}

interface Place {
  readonly at: Instant;
  readonly position: string;
  readonly number: number;
}

interface Tools {
  readonly session: FillSession;
  readonly rollUps: RollUps;
  readonly kept: KeptMonths;
}

/**
 * Takes a voided event out of those that count, and counts its hour again; gives whose it was. Its identity stays, so
 * that the same id is a repetition for ever (D35). Of a dropped month it is noted: until the month is back, nothing
 * tells whose it is, and its hour has no figures.
 */
export async function takeOut(
  { session, rollUps, kept }: Tools,
  { environment, eventId, reason, position, voidedAt }: TakenVoid,
): Promise<TouchedUsage | null> {
  const { query, schema } = session;
  const known = await query<Place>(
    `select at, position, number from ${schema}.identity where environment = $1 and id = $2::uuid`,
    [environment, hashOfId(eventId)],
  );
  const [place] = known.rows;
  invariant(place, `${eventId} was voided before it came`);
  const fate = kept.fateOf(place.at);
  if (fate === 'left') return null;
  if (fate === 'dropped') {
    await voidReserved(session, environment, place);
    await noteUnsettled(session, environment, place);
    return null;
  }
  const { rows } = await query<{ readonly account: string; readonly name: string }>(
    `with gone as (
       delete from ${schema}.event
        where environment = $1 and at = $2 and position = $3 and number = $4
        returning environment, account, name, at, position, recorded_at, number, event_id, source,
                  properties),
     kept as (
       insert into ${schema}.voided
         (environment, account, name, at, position, recorded_at, number, event_id, source, properties,
          void_position, voided_at, reason)
       select gone.*, $5::bigint, $6::timestamptz, $7::text from gone)
     select gone.account, event_name.name from gone
       join ${schema}.event_name on event_name.number = gone.name`,
    [environment, place.at, place.position, place.number, position, voidedAt, reason],
  );
  const [gone] = rows;
  invariant(gone, `${eventId} is voided twice`);
  await voidReserved(session, environment, place);
  const { account, name: eventName } = gone;
  await rollUps.recount({ environment, account, eventName, hour: hourOf(place.at) });
  return { environment, account, eventName };
}
