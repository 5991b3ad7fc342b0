import type { Backfill } from './backfill.ts';

/** Reasons for which an event of a backfill does not wait, or was not counted. */
export const refusals = ['conflict', 'not_open', 'limit_reached'] as const;
export type Refusal = (typeof refusals)[number];

/** The columns of backfills that readers see. */
export interface BackfillTables {
  backfill: {
    readonly number: number;
    readonly environment: number;
    readonly id: string;
    readonly source: string;
    readonly start_time: string;
    readonly end_time: string;
    readonly description: string | null;
    readonly status: Backfill['status'];
    readonly opened_at: string;
    readonly opened_position: string;
    readonly ended_at: string | null;
    readonly ended_position: string | null;
    readonly waiting: number;
    readonly counted: number;
    readonly repeated: number;
    readonly refused: number;
  };
  waiting_event: {
    readonly environment: number;
    readonly backfill: number;
    readonly id: string;
    readonly content: string;
    readonly at: string;
    readonly position: string;
    readonly number: number;
    readonly name: string;
    readonly external_id: string;
    readonly event_id: string;
    readonly source: string;
    readonly properties: string | null;
  };
  refused_event: {
    readonly environment: number;
    readonly backfill: number;
    readonly position: string;
    readonly number: number;
    readonly event_id: string;
    readonly at: string;
    readonly reason: Refusal;
  };
}

/** The tables of backfills that readers see, each row in an environment. */
export const backfillRelations = ['backfill', 'waiting_event', 'refused_event'] as const;

/** The statements that make the tables of backfills in a schema. */
export const createBackfillTables = (schema: string): readonly string[] => [
  `create table ${schema}.backfill (
     number integer generated always as identity primary key,
     environment integer not null,
     id text collate "C" not null,
     source text collate "C" not null,
     start_time timestamptz not null,
     end_time timestamptz not null,
     description text collate "C",
     status text collate "C" not null,
     opened_at timestamptz not null,
     opened_position bigint not null,
     ended_at timestamptz,
     ended_position bigint,
     waiting integer not null default 0,
     counted integer not null default 0,
     repeated integer not null default 0,
     refused integer not null default 0,
     unique (environment, id))`,
  `create index on ${schema}.backfill (environment, opened_position)`,
  // Names as they were sent: whom an event belongs to is told when it counts.
  `create table ${schema}.waiting_event (
     environment integer not null,
     backfill integer not null,
     id uuid not null,
     content uuid not null,
     at timestamptz not null,
     position bigint not null,
     number integer not null,
     name text collate "C" not null,
     external_id text collate "C" not null,
     event_id text collate "C" not null,
     source text collate "C" not null,
     properties json,
     primary key (backfill, id))`,
  `create index on ${schema}.waiting_event (backfill, position, number)`,
  `create index on ${schema}.waiting_event (backfill, external_id, name, at)`,
  `create table ${schema}.refused_event (
     environment integer not null,
     backfill integer not null,
     position bigint not null,
     number integer not null,
     event_id text collate "C" not null,
     at timestamptz not null,
     reason text collate "C" not null,
     primary key (backfill, position, number))`,
];

const members = (relation: string, columns: string) => (schema: string) =>
  `select environment_id, backfill.id as backfill_id, ${columns}
     from ${schema}.${relation} as one
     join ${schema}.backfill on backfill.number = one.backfill
     join ${schema}.environment on environment.number = one.environment`;

/** The contents of the tables, without the numbers that one filling has given. */
export const comparedBackfills = {
  backfill: (schema: string) =>
    `select environment_id, id, source, start_time, end_time, description, status, opened_at,
            opened_position, ended_at, ended_position, waiting, counted, repeated, refused
       from ${schema}.backfill join ${schema}.environment on environment.number = backfill.environment`,
  waiting_event: members(
    'waiting_event',
    `one.id, one.content, one.at, one.position, one.number, one.name, one.external_id, one.event_id,
     one.source, one.properties::text`,
  ),
  refused_event: members(
    'refused_event',
    'one.position, one.number, one.event_id, one.at, one.reason',
  ),
} satisfies Record<string, (schema: string) => string>;
