import type { FactTables } from '@counterfoil/engine/define';
import { comparedWatched, createWatchedTable } from './alerts/watched.ts';
import {
  type BackfillTables,
  backfillRelations,
  comparedBackfills,
  createBackfillTables,
} from './backfills/index.ts';
import {
  type BalanceTables,
  balanceRelations,
  comparedBalances,
  createBalanceTables,
} from './balances/watched-balances.ts';
import {
  comparedReservations,
  createReservationTables,
  type ReservationTables,
  reservationRelations,
} from './reservations/tables.ts';
import {
  comparedDropped,
  createRetentionTables,
  isSettled,
  type RetentionTables,
  retentionRelations,
} from './retention/tables.ts';
import {
  comparedRollUps,
  createRollUpTables,
  type RollUpTables,
  rollUpRelations,
} from './roll-ups/index.ts';
import { comparedWatchedUsage, createWatchedUsageTable } from './watches/watched-usage.ts';

/** The columns of the tables that readers see. */
export interface UsageTables
  extends RollUpTables,
    BackfillTables,
    BalanceTables,
    ReservationTables,
    RetentionTables {
  environment: { readonly number: number; readonly environment_id: string };
  account: {
    readonly number: string;
    readonly environment: number;
    readonly external_id: string;
    readonly generation: number;
    readonly customer_id: string | null;
  };
  event_name: { readonly number: number; readonly environment: number; readonly name: string };
  identity: {
    readonly environment: number;
    readonly id: string;
    readonly content: string;
    readonly at: string;
    readonly position: string;
    readonly number: number;
  };
  event: {
    readonly environment: number;
    readonly account: string;
    readonly name: number;
    readonly at: string;
    readonly position: string;
    readonly number: number;
    readonly event_id: string;
    readonly source: string | null;
    readonly properties: string | null;
  };
  voided: UsageTables['event'] & {
    readonly void_position: string;
    readonly voided_at: string;
    readonly reason: string | null;
  };
}

/** Names that stand for the environment, the customer and the event name in the wide tables. */
const dictionaries = (schema: string): readonly string[] => [
  `create table ${schema}.environment (
     number integer generated always as identity primary key,
     environment_id text collate "C" not null unique)`,
  // An external id that passes from one customer to another begins a new generation.
  `create table ${schema}.account (
     number bigint generated always as identity primary key,
     environment integer not null,
     external_id text collate "C" not null,
     generation integer not null,
     customer_id text collate "C",
     released boolean not null default false,
     unique (environment, external_id, generation))`,
  `create index on ${schema}.account (environment, customer_id) where customer_id is not null`,
  `create table ${schema}.event_name (
     number integer generated always as identity primary key,
     environment integer not null,
     name text collate "C" not null,
     unique (environment, name))`,
];

const facts = (schema: string): readonly string[] => [
  // No partitions, and nothing is ever taken out: an id is unique for ever (D35).
  `create table ${schema}.identity (
     environment integer not null,
     id uuid not null,
     content uuid not null,
     at timestamptz not null,
     position bigint not null,
     number integer not null,
     primary key (environment, id))`,
  `create table ${schema}.conflict (
     environment integer not null,
     position bigint not null,
     number integer not null,
     event_id text collate "C" not null,
     primary key (environment, position, number))`,
  `create table ${schema}.event (
     environment integer not null,
     account bigint not null,
     name integer not null,
     at timestamptz not null,
     position bigint not null,
     number integer not null,
     event_id text collate "C" not null,
     source text collate "C",
     properties json) partition by range (at)`,
  ...eventIndexes(`${schema}.event`),
  `create table ${schema}.event_other partition of ${schema}.event default`,
  // Events that count no more.
  `create table ${schema}.voided (
     like ${schema}.event,
     void_position bigint not null,
     voided_at timestamptz not null,
     reason text collate "C",
     primary key (environment, position, number))`,
];

/** The indexes of the events, of all or of a partition that is made before it is one. */
export const eventIndexes = (relation: string): readonly string[] => [
  `create index on ${relation} (account, name, at)`,
  `create index on ${relation} (environment, at)`,
];

const securedTables = [
  ...['account', 'event_name', 'identity', 'conflict', 'event', 'voided'],
  ...rollUpRelations,
  ...backfillRelations,
  ...reservationRelations,
  ...retentionRelations,
  ...balanceRelations,
] as const;

const ownEnvironment = `(select current_setting('counterfoil.environment', true))`;

/** The statements that make the tables of usage in a schema, each open to its own environment alone. */
export function createUsageTables(schema: string, readerRole: string): readonly string[] {
  const secured = (table: string, condition: string): readonly string[] => [
    `alter table ${schema}.${table} enable row level security`,
    `create policy own_environment on ${schema}.${table} for select to ${readerRole} using (${condition})`,
    `grant select on ${schema}.${table} to ${readerRole}`,
  ];
  const isOwn = `environment = (select number from ${schema}.environment
                                 where environment_id = ${ownEnvironment})`;
  return [
    ...dictionaries(schema),
    ...facts(schema),
    ...createRollUpTables(schema),
    ...createBackfillTables(schema),
    ...createReservationTables(schema),
    ...createRetentionTables(schema),
    ...createWatchedTable(schema),
    ...createWatchedUsageTable(schema),
    ...createBalanceTables(schema),
    ...secured('environment', `environment_id = ${ownEnvironment}`),
    ...securedTables.flatMap((table) => secured(table, isOwn)),
  ];
}

const eventMembers = `environment_id, external_id, generation, name.name, event.at, event.position,
  event.number, event_id, source, properties::text`;

const eventJoins = (schema: string): string =>
  `join ${schema}.environment on environment.number = event.environment
   join ${schema}.account on account.number = event.account
   join ${schema}.event_name as name on name.number = event.name`;

/** The contents of the tables, without the numbers that one filling has given. */
export const comparedUsage = {
  ...comparedRollUps,
  ...comparedBackfills,
  ...comparedReservations,
  watched: comparedWatched,
  watched_usage: comparedWatchedUsage,
  ...comparedBalances,
  account: (schema) =>
    `select environment_id, external_id, generation, customer_id, released
       from ${schema}.account join ${schema}.environment on environment.number = account.environment`,
  identity: (schema) =>
    `select environment_id, id, content, at, position, identity.number
       from ${schema}.identity join ${schema}.environment on environment.number = identity.environment`,
  conflict: (schema) =>
    `select environment_id, position, conflict.number, event_id
       from ${schema}.conflict join ${schema}.environment on environment.number = conflict.environment`,
  event: (schema, _shown, relation) =>
    `select ${eventMembers} from ${schema}.${relation} as event ${eventJoins(schema)}`,
  voided: (schema, shown) =>
    `select ${eventMembers}, void_position, voided_at, reason
       from ${schema}.voided as event ${eventJoins(schema)}
      where ${isSettled(schema, shown, 'event')}`,
  dropped_usage: comparedDropped,
} satisfies FactTables['compared'];
