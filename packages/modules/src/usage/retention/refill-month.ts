import type { FillSession, MadeBeside } from '@counterfoil/engine/define';
import { invariant } from '@counterfoil/kernel';
import { type Month, monthNamed } from '../month.ts';
import { eventIndexes } from '../table-definitions.ts';
import { UsageWatchers } from '../usage-watchers.ts';
import type { TouchedUsage } from '../watcher.ts';
import { areMeasuresComplete } from './drop-month.ts';

/** The table of a month among those beside, with the numbers of the tables that readers see. */
const preparedOf = (made: string, { name }: Month): string => `${made}.prepared_${name}`;

const columns =
  'environment, account, name, at, position, recorded_at, number, event_id, source, properties';

/** The events of a month that stand in tables beside, with the numbers that the tables of the session have given. */
const eventsBeside = (schema: string, made: string, { from, to }: Month): string =>
  `select environment.number, account.number, name.number, event.at, event.position,
          event.recorded_at, event.number, event.event_id, event.source, event.properties
     from ${made}.event
     ${ownNumbers(schema, made, 'event')}
     join ${made}.event_name as other_name on other_name.number = event.name
     join ${schema}.event_name as name
       on name.environment = environment.number and name.name = other_name.name
    where event.at >= '${from}' and event.at < '${to}'`;

/** Finds the environment and the account of rows beside by what they are called. */
const ownNumbers = (schema: string, made: string, row: string): string =>
  `join ${made}.environment as other_environment on other_environment.number = ${row}.environment
   join ${schema}.environment on environment.environment_id = other_environment.environment_id
   join ${made}.account as other_account on other_account.number = ${row}.account
   join ${schema}.account
     on account.environment = environment.number and account.external_id = other_account.external_id
    and account.generation = other_account.generation`;

/** Copies the events of a month from tables beside into a table that is going to be its partition. */
export async function prepareMonth(
  session: FillSession,
  made: string,
  name: string,
): Promise<void> {
  const { query, schema } = session;
  const month = monthNamed(name);
  const relation = preparedOf(made, month);
  await query(
    `create table ${relation} (like ${schema}.event,
       check (at >= '${month.from}' and at < '${month.to}'))`,
  );
  // Those of a customer side by side, as they are when they come together.
  const order = 'order by account.number, name.number, event.at, event.position, event.number';
  const { count } = await query(
    `insert into ${relation} (${columns}) ${eventsBeside(schema, made, month)} ${order}`,
  );
  await assertAll(session, count, made, month, '0');
  for (const text of eventIndexes(relation)) await query(text);
  await query(`analyze ${relation}`);
}

/**
 * Makes what was prepared the partition of its month, with what has come since, and completes the figures that could not be
 * told without its events. False while a measure is not complete.
 *
 * @param graceSeconds how long readers who have read before are still told that it was not there
 */
export async function refillMonth(
  session: FillSession,
  made: MadeBeside,
  name: string,
  graceSeconds: number,
): Promise<boolean> {
  if (!(await areMeasuresComplete(session))) return false;
  const month = monthNamed(name);
  await addLast(session, made, month);
  await fillGaps(session, made.schema, month, name);
  const taken = await takeOutPending(session, made.schema, month, name);
  const { query, schema } = session;
  const relation = preparedOf(made.schema, month);
  await query(`alter table ${relation} set schema ${schema}`);
  await query(`alter table ${schema}.prepared_${month.name} rename to ${month.name}`);
  await query(`delete from ${schema}.dropped_month where month = '${name}'`);
  await query(
    `update ${schema}.dropped_usage set until = clock_timestamp() + $1::int * interval '1 second'
      where month = '${name}'`,
    [graceSeconds],
  );
  const watchers = new UsageWatchers(session);
  const accounts = new Set(taken.map(({ account }) => account));
  await watchers.touch({ accounts, events: () => taken });
  await watchers.balances.mark();
  // Last, because it waits for readers, and holds up those that come meanwhile.
  await query(
    `alter table ${schema}.event attach partition ${schema}.${month.name}
       for values from ('${month.from}') to ('${month.to}')`,
  );
  return true;
}

/** Events of the month that came after it was prepared, less those that were taken back since. */
async function addLast(
  session: FillSession,
  { schema: made, preparedUpTo }: MadeBeside,
  month: Month,
): Promise<void> {
  const { query, schema } = session;
  const relation = preparedOf(made, month);
  const { count } = await query(
    `insert into ${relation} (${columns})
     ${eventsBeside(schema, made, month)} and event.position > $1::bigint`,
    [preparedUpTo],
  );
  await assertAll(session, count, made, month, preparedUpTo);
  await query(
    `delete from ${relation} as gone using ${made}.voided
       join ${made}.environment as other on other.number = voided.environment
       join ${schema}.environment as own on own.environment_id = other.environment_id
      where voided.void_position > $1::bigint and gone.environment = own.number
        and gone.at = voided.at and gone.position = voided.position and gone.number = voided.number`,
    [preparedUpTo],
  );
}

/** Throws unless as many events were copied as stand beside: one whose account were missing here would be lost. */
async function assertAll(
  { query }: FillSession,
  copied: number,
  made: string,
  { name, from, to }: Month,
  after: string,
): Promise<void> {
  const { rows } = await query<{ readonly count: string }>(
    `select count(*) from ${made}.event
      where at >= '${from}' and at < '${to}' and position > $1::bigint`,
    [after],
  );
  invariant(rows[0]?.count === String(copied), `${name} would lack events of the log`);
}

/** The figures of hours, by table: the column of the hour, and those that are no numbers of a filling. */
const figures = [
  [
    'hourly',
    'hour',
    'count, total, moment, greatest, latest, latest_at, latest_position, latest_number',
  ],
  ['distinct_value', 'hour', 'value'],
  ['bucket', 'start', 'grouped, greatest'],
  ['grouped', 'hour', 'value, count, total'],
] as const;

/** Takes the figures of the month from tables beside, for measures that do not have all of them. */
async function fillGaps(
  { query, schema }: FillSession,
  made: string,
  { from, to }: Month,
  name: string,
): Promise<void> {
  const lacking = `select measure from ${schema}.measure_gap where month = '${name}'`;
  const sameMeasure = `
     join ${made}.measure as other_measure on other_measure.number = one.measure and not other_measure.is_retired
     join ${schema}.measure
       on measure.environment = environment.number and measure.digest = other_measure.digest
      and not measure.is_retired and measure.number in (${lacking})`;
  for (const [table, hour, others] of figures) {
    await query(
      `delete from ${schema}.${table}
        where measure in (${lacking}) and ${hour} >= '${from}' and ${hour} < '${to}'`,
    );
    const own = others
      .split(', ')
      .map((column) => `one.${column}`)
      .join(', ');
    await query(
      `insert into ${schema}.${table} (environment, measure, account, ${hour}, ${others})
       select environment.number, measure.number, account.number, one.${hour}, ${own}
         from ${made}.${table} as one ${ownNumbers(schema, made, 'one')} ${sameMeasure}
        where one.${hour} >= '${from}' and one.${hour} < '${to}'`,
    );
  }
  await query(
    `insert into ${schema}.group_value (environment, measure, value, text)
     select environment.number, measure.number, one.value, one.text
       from ${made}.group_value as one
       join ${made}.environment as other_environment on other_environment.number = one.environment
       join ${schema}.environment on environment.environment_id = other_environment.environment_id
       ${sameMeasure}
         on conflict do nothing`,
  );
  await query(`delete from ${schema}.measure_gap where month = '${name}'`);
}

/** Lists the events as void that were taken back while the month was dropped; gives whose they are. */
async function takeOutPending(
  { query, schema }: FillSession,
  made: string,
  { from, to }: Month,
  name: string,
): Promise<readonly TouchedUsage[]> {
  const { rows } = await query<TouchedUsage>(
    `with taken as (
       insert into ${schema}.voided (${columns}, void_position, voided_at, reason)
       select environment.number, account.number, name.number, one.at, one.position,
              one.recorded_at, one.number, one.event_id, one.source, one.properties, one.void_position, one.voided_at, one.reason
         from ${made}.voided as one
         ${ownNumbers(schema, made, 'one')}
         join ${made}.event_name as other_name on other_name.number = one.name
         join ${schema}.event_name as name
           on name.environment = environment.number and name.name = other_name.name
         join ${schema}.pending_void as pending
           on pending.environment = environment.number and pending.position = one.position
          and pending.number = one.number
        where one.at >= '${from}' and one.at < '${to}'
       returning environment, account, name)
     select taken.environment, taken.account, event_name.name as "eventName"
       from taken join ${schema}.event_name on event_name.number = taken.name`,
  );
  await query(`delete from ${schema}.pending_void where month = '${name}'`);
  return rows;
}
