/** The columns of the tables of what was dropped that readers see. */
export interface RetentionTables {
  /** The events of a name and a month that are counted, and no longer kept one by one. */
  dropped_usage: {
    readonly environment: number;
    readonly name: number;
    readonly month: string;
    readonly first_at: string;
    readonly last_at: string;
    /** Null while they are dropped. */
    readonly until: string | null;
  };
  /** Hours of which a measure does not have all. */
  measure_gap: {
    readonly environment: number;
    readonly measure: number;
    readonly first_at: string;
    readonly last_at: string;
  };
}

/** The tables that readers see, each row in an environment. */
export const retentionRelations = ['dropped_usage', 'measure_gap'] as const;

/** The statements that make the tables in a schema. */
export const createRetentionTables = (schema: string): readonly string[] => [
  // A month is written as 2026-11. Of all environments together: a partition is dropped for all of them.
  `create table ${schema}.dropped_month (month text collate "C" primary key)`,
  `create table ${schema}.dropped_usage (
     environment integer not null,
     name integer not null,
     month text collate "C" not null,
     events bigint not null,
     first_at timestamptz not null,
     last_at timestamptz not null,
     -- Those who have read before the month came back are still told until then that it was not there.
     until timestamptz,
     primary key (environment, name, month))`,
  `create table ${schema}.measure_gap (
     environment integer not null,
     measure integer not null,
     month text collate "C" not null,
     -- From the beginning of an hour on.
     first_at timestamptz not null,
     last_at timestamptz not null)`,
  `create index on ${schema}.measure_gap (measure)`,
  // Events of dropped months that are taken back, and are still in the figures.
  `create table ${schema}.pending_void (
     environment integer not null,
     position bigint not null,
     number integer not null,
     at timestamptz not null,
     month text collate "C" not null,
     primary key (environment, position, number))`,
];

/** A month as it is written, of a column of instants. */
const monthIn = (column: string): string => `to_char(${column} at time zone 'UTC', 'YYYY-MM')`;

/**
 * The number of the events of each name that are dropped and counted: as it is kept, and that of the events in a schema which has
 * them of the months that are dropped in the other. Where an event is still to be taken out there is nothing to compare.
 */
export const comparedDropped = (schema: string, shown: string): string =>
  `select environment_id, name.name, month, sum(events) as events, min(first_at) as first_at, max(last_at) as last_at
     from (select environment, name, month, events, first_at, last_at
             from ${schema}.dropped_usage where until is null
           union all
           select environment, name, ${monthIn('at')}, 1, at, at from ${schema}.event
            where ${monthIn('at')} in (select month from ${shown}.dropped_month)) as one
     join ${schema}.environment on environment.number = one.environment
     join ${schema}.event_name as name on name.number = one.name
    where not exists (select from ${shown}.pending_void as pending
                        join ${shown}.environment as place on place.number = pending.environment
                       where pending.month = one.month and place.environment_id = environment.environment_id)
    group by environment_id, name.name, month`;

/** The condition that an event is none of those that are still to be taken out of the tables that readers see. */
export const isSettled = (schema: string, shown: string, event: string): string =>
  `not exists (select from ${shown}.pending_void as pending
                 join ${shown}.environment as place on place.number = pending.environment
                 join ${schema}.environment as own on own.number = ${event}.environment
                where pending.position = ${event}.position and pending.number = ${event}.number
                  and place.environment_id = own.environment_id)`;
