import type { FillSession } from '@counterfoil/engine/define';
import type { Instant } from '@counterfoil/kernel';
import { type Measure, measureWith, Tally } from './tally.ts';
import { writeTally } from './write-tally.ts';

/** The size of a piece. */
export interface Piece {
  readonly events: number;
  /** Accounts that are looked at, two or more. */
  readonly accounts: number;
}

export const usualPiece: Piece = { events: 20_000, accounts: 200 };

/** The place of an event in the order in which those from before are counted. */
interface Past {
  readonly account: string;
  readonly at: string;
  readonly position: string;
  readonly number: number;
}

/** Before every event of an account. */
const beginning = { at: '0001-01-01T00:00:00.000Z', position: '0', number: 0 };

interface Unfinished {
  readonly number: number;
  readonly environment: number;
  readonly name: string;
  readonly definition: string;
  readonly since: string;
  readonly past_account: string | null;
  readonly past_at: string | null;
  readonly past_position: string | null;
  readonly past_number: number | null;
}

/**
 * Counts a piece of what was there before a measure was: events of its name, account by account. False when
 * every measure is complete.
 */
export async function countPast(session: FillSession, piece: Piece): Promise<boolean> {
  const { query, schema } = session;
  // Locked, because a process that has lost its place among those who fill may still be at it.
  const { rows } = await query<Unfinished>(
    `select number, environment, name, definition, since,
            past_account, past_at, past_position, past_number
       from ${schema}.measure where not is_complete and not is_retired order by number limit 1
        for update`,
  );
  const [row] = rows;
  if (!row) return false;
  const measure = measureWith(
    { number: row.number, environment: row.environment },
    JSON.parse(row.definition),
  );
  const tally = new Tally();
  const reached = await tallyPast(session, { ...row, measure }, tally, piece);
  await writeTally(session, tally);
  await query(
    `update ${schema}.measure
        set is_complete = $2, past_account = $3, past_at = $4, past_position = $5, past_number = $6
      where number = $1`,
    [
      row.number,
      reached === null,
      ...[
        reached?.account ?? null,
        reached?.at ?? null,
        reached?.position ?? null,
        reached?.number ?? null,
      ],
    ],
  );
  return true;
}

/** Tallies a piece; gives the place that it has reached, or null at the end. */
async function tallyPast(
  session: FillSession,
  row: Unfinished & { readonly measure: Measure },
  tally: Tally,
  piece: Piece,
): Promise<Past | null> {
  let place = placeOf(row);
  const accounts = await accountsFrom(session, row, place.account, piece);
  let left = piece.events;
  for (const account of accounts) {
    if (account !== place.account) place = { account, ...beginning };
    const events = await eventsAfter(session, row, place, left);
    for (const { properties, ...event } of events) {
      tally.add(row.measure, {
        ...event,
        account,
        at: event.at as Instant,
        properties: properties === null ? {} : JSON.parse(properties),
      });
    }
    const last = events.at(-1);
    if (last) place = { account, at: last.at, position: last.position, number: last.number };
    left -= events.length;
    if (left <= 0) return place;
  }
  return accounts.length < piece.accounts ? null : place;
}

const placeOf = ({ past_account, past_at, past_position, past_number }: Unfinished): Past => ({
  account: past_account ?? '0',
  at: past_at ?? beginning.at,
  position: past_position ?? beginning.position,
  number: past_number ?? beginning.number,
});

async function accountsFrom(
  { query, schema }: FillSession,
  { environment }: Unfinished,
  account: string,
  { accounts }: Piece,
): Promise<readonly string[]> {
  const { rows } = await query<{ number: string }>(
    `select number from ${schema}.account where environment = $1 and number >= $2
      order by number limit $3`,
    [environment, account, accounts],
  );
  return rows.map(({ number }) => number);
}

interface PastEvent {
  readonly at: string;
  readonly position: string;
  readonly number: number;
  readonly properties: string | null;
}

async function eventsAfter(
  { query, schema }: FillSession,
  { environment, name, since }: Unfinished,
  { account, at, position, number }: Past,
  limit: number,
): Promise<readonly PastEvent[]> {
  const { rows } = await query<PastEvent>(
    `select at, position, number, properties from ${schema}.event
      where account = $1
        and name = (select number from ${schema}.event_name where environment = $2 and name = $3)
        and at >= $5::timestamptz and position < $4
        and (at, position, number) > ($5::timestamptz, $6::bigint, $7::int)
      order by at, position, number limit $8`,
    [account, environment, name, since, at, position, number, limit],
  );
  return rows;
}
