import { OperatorError } from '@counterfoil/cli/settings';
import { Client } from 'pg';

/** The use of each of the events that are stored: whole and half, so that decimals are added up. */
const count = '1.5';
/** Events name one of so many models: no meter keeps figures of one alone. */
const models = 4;
const portion = 1_000_000;
/** Events that came together. */
const bulk = 1_000;

/** Usage that is put into the tables of an installation as if it had come over days, without the log. */
export interface StoredUsage {
  readonly eventName: string;
  readonly externalIds: readonly string[];
  readonly events: number;
  readonly from: Date;
  readonly days: number;
}

/**
 * Writes events to the tables that readers see, a tenth of them of the first customer, with their figures by the hour. Accounts, names
 * and months must be there. The log knows nothing of it.
 */
export async function storeUsage(
  databaseUrl: string,
  { eventName, externalIds, events, from, days }: StoredUsage,
  print: (line: string) => void,
): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const schema = await schemaOf(client);
    await client.query('set synchronous_commit = off');
    for (let first = 0; first < events; first += portion) {
      const size = Math.min(portion, events - first);
      await client.query(insertEvents(schema), [
        ...[eventName, externalIds, first, size],
        ...[from.toISOString(), (days * 86_400) / events, externalIds.length - 1],
      ]);
      print(`stored ${(first + size).toLocaleString('en-US')} events`);
    }
    await client.query(insertHours(schema), [eventName]);
    await client.query(`analyze ${schema}.event`);
    await client.query(`vacuum analyze ${schema}.hourly`);
  } finally {
    await client.end();
  }
}

/** The name of a model that some events have. */
export const storedModel = (number: number): string => `model-${number % models}`;

/** A part of the stored events. */
export interface StoredPart {
  readonly customer: number;
  /** Without them: of all models, of all time. */
  readonly model?: string;
  readonly start?: Date;
  readonly end?: Date;
}

/** The sum of a part of the stored events, by the rule that they are made by. */
export function storedSum(
  stored: StoredUsage,
  { customer, model, start, end }: StoredPart,
): number {
  const { events, externalIds, from, days } = stored;
  const others = externalIds.length - 1;
  const step = (days * 86_400) / events;
  let sum = 0;
  for (let event = 0; event < events; event += 1) {
    const own = event % 10 === 0 ? 0 : 1 + (event % others);
    if (own !== customer) continue;
    if (model !== undefined && model !== storedModel(Math.floor(event / 10))) continue;
    const at = from.getTime() + Math.floor(Math.round(event * step * 1_000_000) / 1_000);
    if (at >= (start?.getTime() ?? 0) && at < (end?.getTime() ?? Number.MAX_VALUE)) sum += +count;
  }
  return sum;
}

async function schemaOf(client: Client): Promise<string> {
  const { rows } = await client.query<{ version: number; generation: number }>(
    `select version, generation from counterfoil.filling where name = 'usage' and serving`,
  );
  if (!rows[0]) throw new OperatorError('There are no tables of usage.');
  const { version, generation } = rows[0];
  return `counterfoil_usage_v${version}${generation === 0 ? '' : `_g${generation}`}`;
}

const insertEvents = (schema: string): string => `
  insert into ${schema}.event (environment, account, name, at, position, recorded_at, number, event_id, properties)
  select named.environment, accounts.numbers[case when event % 10 = 0 then 1 else 2 + event % ($7::int) end],
         named.number, date_trunc('milliseconds', $5::timestamptz + event * $6::float8 * interval '1 second'),
         0, $5::timestamptz, event, 'stored-' || event,
         ('{"count":${count},"model":"model-' || event / 10 % ${models} || '","region":"eu-west-1"}')::json
    from (select array_agg(number order by asked.place) as numbers
            from unnest($2::text[]) with ordinality as asked (external_id, place)
            join ${schema}.account using (external_id)) as accounts,
         ${schema}.event_name as named,
         generate_series($3::int, $3::int + $4::int - 1) as event
   where named.name = $1
   -- Events that came in one request stand in the order of their accounts.
   order by event / ${bulk}, 2`;

const insertHours = (schema: string): string => `
  insert into ${schema}.hourly as kept (environment, measure, account, hour, count, total)
  select event.environment, measure.number, account, date_trunc('hour', at), count(*), sum(${count})
    from ${schema}.event
    join ${schema}.event_name as named on named.number = event.name
    join ${schema}.measure on measure.environment = event.environment and measure.name = named.name
   where named.name = $1 and event.position = 0
   group by 1, 2, 3, 4
      on conflict (measure, account, hour) do update
     set count = kept.count + excluded.count, total = kept.total + excluded.total`;
