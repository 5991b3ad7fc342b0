import type { FillSession } from '@counterfoil/engine/define';
import type { Instant } from '@counterfoil/kernel';
import { hourAfter } from './hours.ts';
import { type Measure, Tally } from './tally.ts';
import { writeTally } from './write-tally.ts';

interface Row {
  readonly at: Instant;
  readonly position: string;
  readonly number: number;
  readonly properties: string | null;
}

/**
 * Counts an hour of an account again for one measure, from the events that are there. Events from before the measure
 * count as far as it has come with them: the rest is still to be added.
 */
export async function recountHour(
  session: FillSession,
  measure: Measure,
  { account, hour }: { readonly account: string; readonly hour: Instant },
): Promise<void> {
  const { query, schema } = session;
  const [from, to] = [hour, hourAfter(hour)];
  for (const [table, column] of [
    ['hourly', 'hour'],
    ['distinct_value', 'hour'],
    ['bucket', 'start'],
    ['grouped', 'hour'],
  ]) {
    await query(
      `delete from ${schema}.${table}
        where measure = $1 and account = $2 and ${column} >= $3 and ${column} < $4`,
      [measure.number, account, from, to],
    );
  }
  const { rows } = await query<Row>(
    `select event.at, event.position, event.number, event.properties
       from ${schema}.measure
       join ${schema}.event_name as named on named.environment = measure.environment and named.name = measure.name
       join ${schema}.event on event.account = $2 and event.name = named.number
      where measure.number = $1 and event.at >= $3 and event.at < $4
        and (measure.is_complete or event.position > measure.since
             or (event.account, event.at, event.position, event.number)
                <= (measure.past_account, measure.past_at, measure.past_position, measure.past_number))`,
    [measure.number, account, from, to],
  );
  const tally = new Tally();
  for (const { properties, ...event } of rows) {
    tally.add(measure, {
      ...event,
      account,
      properties: properties === null ? {} : JSON.parse(properties),
    });
  }
  await writeTally(session, tally);
}
