/** The columns of roll-ups that readers see. */
export interface RollUpTables {
  measure: {
    readonly number: number;
    readonly environment: number;
    readonly digest: string;
    readonly is_complete: boolean;
    readonly is_retired: boolean;
  };
  hourly: {
    readonly measure: number;
    readonly account: string;
    readonly hour: string;
    readonly count: string;
    readonly total: string | null;
    readonly moment: string | null;
    readonly greatest: string | null;
    readonly latest: string | null;
    readonly latest_at: string | null;
    readonly latest_position: string | null;
    readonly latest_number: number | null;
  };
  distinct_value: {
    readonly measure: number;
    readonly account: string;
    readonly hour: string;
    readonly value: string;
  };
  bucket: {
    readonly measure: number;
    readonly account: string;
    readonly start: string;
    readonly grouped: string;
    readonly greatest: string;
  };
  grouped: {
    readonly measure: number;
    readonly account: string;
    readonly hour: string;
    readonly value: string;
    readonly count: string;
    readonly total: string;
  };
  group_value: {
    readonly measure: number;
    readonly value: string;
    /** In JSON; null for events without a value. */
    readonly text: string | null;
  };
}

/** The roll-ups that readers see, each row in an environment. */
export const rollUpRelations = [
  ...['measure', 'hourly', 'distinct_value', 'bucket', 'grouped', 'group_value'],
] as const;

/** The statements that make the tables of roll-ups in a schema. */
export const createRollUpTables = (schema: string): readonly string[] => [
  `create table ${schema}.measure (
     number integer generated always as identity primary key,
     environment integer not null,
     name text collate "C" not null,
     digest uuid not null,
     definition text collate "C" not null,
     -- Events after this position are counted as they come, those before it once from the events that are there.
     since bigint not null,
     is_complete boolean not null,
     is_retired boolean not null default false,
     -- Questions need it, and no meter.
     is_grouping boolean not null,
     -- The last event from before that was counted, in the order of account, time and log.
     past_account bigint,
     past_at timestamptz,
     past_position bigint,
     past_number integer)`,
  `create unique index on ${schema}.measure (environment, digest) where not is_retired`,
  `create index on ${schema}.measure (environment, name) where not is_retired`,
  // What is left to do.
  `create index on ${schema}.measure (number) where is_retired or not is_complete`,
  `create table ${schema}.meter (
     id text collate "C" primary key,
     environment integer not null,
     event_name text collate "C" not null,
     aggregation text collate "C" not null,
     -- Null beyond the limit of measures: it is counted from events.
     measure integer)`,
  `create index on ${schema}.meter (measure)`,
  // Rows of the running hour are written again and again: room beside them keeps their indexes as they are.
  `create table ${schema}.hourly (
     environment integer not null,
     measure integer not null,
     account bigint not null,
     hour timestamptz not null,
     count bigint not null,
     total numeric,
     moment numeric,
     greatest numeric,
     latest numeric,
     latest_at timestamptz,
     latest_position bigint,
     latest_number integer,
     primary key (measure, account, hour)) with (fillfactor = 80)`,
  `create table ${schema}.distinct_value (
     environment integer not null,
     measure integer not null,
     account bigint not null,
     hour timestamptz not null,
     value uuid not null,
     primary key (measure, account, hour, value))`,
  `create table ${schema}.bucket (
     environment integer not null,
     measure integer not null,
     account bigint not null,
     start timestamptz not null,
     grouped uuid not null,
     greatest numeric not null,
     primary key (measure, account, start, grouped)) with (fillfactor = 80)`,
  `create table ${schema}.grouped (
     environment integer not null,
     measure integer not null,
     account bigint not null,
     hour timestamptz not null,
     value uuid not null,
     count bigint not null,
     total numeric not null,
     primary key (measure, account, hour, value)) with (fillfactor = 80)`,
  `create table ${schema}.group_value (
     environment integer not null,
     measure integer not null,
     value uuid not null,
     text text collate "C",
     primary key (measure, value))`,
];

/** The hours that readers see no figures of: some of their events are dropped, and not in them. */
const isLacking = (schema: string, shown: string, hour: string): string =>
  `exists (select from ${shown}.measure_gap as gap
             join ${shown}.measure as seen on seen.number = gap.measure and not seen.is_retired
             join ${shown}.environment as place on place.number = gap.environment
            where seen.digest = ${schema}.measure.digest
              and place.environment_id = ${schema}.environment.environment_id
              and ${hour} >= gap.first_at and ${hour} <= gap.last_at)`;

/**
 * A selection of roll-ups, without numbers that a filling has given, of those measures that both have in full, and of
 * the hours that readers see.
 */
const compared = (columns: string, table: string) => (schema: string, shown: string) =>
  `select environment_id, digest, external_id, generation, ${columns}
     from ${schema}.${table}
     join ${schema}.measure on measure.number = ${table}.measure and not is_retired
     join ${schema}.environment on environment.number = ${table}.environment
     join ${schema}.account on account.number = ${table}.account
    where ${isComplete(schema, shown)}
      and not ${isLacking(schema, shown, table === 'bucket' ? 'bucket.start' : `${table}.hour`)}`;

/** A measure that readers see may still be on its way: then events are asked, and there is nothing to compare. */
const isComplete = (schema: string, shown: string): string =>
  `exists (select from ${shown}.measure as seen
             join ${shown}.environment as place on place.number = seen.environment
            where seen.digest = ${schema}.measure.digest and seen.is_complete and not seen.is_retired
              and place.environment_id = ${schema}.environment.environment_id)`;

/** The contents of the roll-ups, without the numbers that one filling has given. */
export const comparedRollUps = {
  measure: (schema: string) =>
    `select environment_id, name, definition, since
       from ${schema}.measure join ${schema}.environment on environment.number = measure.environment
      where not is_retired`,
  meter: (schema: string) =>
    `select id, environment_id, event_name, aggregation, digest
       from ${schema}.meter
       join ${schema}.environment on environment.number = meter.environment
       left join ${schema}.measure on measure.number = meter.measure`,
  hourly: compared(
    'hour, count, total, moment, greatest, latest, latest_at, latest_position, latest_number',
    'hourly',
  ),
  distinct_value: compared('hour, value', 'distinct_value'),
  bucket: compared('start, grouped, greatest', 'bucket'),
  grouped: (schema: string, shown: string) =>
    compared(
      `hour, value, count, total, (select text from ${schema}.group_value as named
         where named.measure = grouped.measure and named.value = grouped.value)`,
      'grouped',
    )(schema, shown),
} satisfies Record<string, (schema: string, shown: string) => string>;
