import { type Kysely, type Migration, sql } from 'kysely';
import { addresses, bulkhead, releaseNumbers, taskOrder } from './later-migrations.ts';

/**
 * The tables of the delivery worker: how far it has read, what is to be delivered to whom, and
 * what came of each attempt. They cannot be rebuilt from the log, unlike read models.
 *
 * A delivery is `pending` (due at next_at), `waiting` (for an earlier one of its resource, at most
 * until next_at), `sending` (until lease_until, when its worker must have died) or in an end state.
 */
const queue: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`
      create table counterfoil.webhook_position (
        singleton boolean primary key default true check (singleton),
        sequence bigint not null default 0,
        position bigint not null default 0,
        message_index integer not null default 0,
        updated_at timestamptz not null default now()
      )`.execute(database);
    await sql`insert into counterfoil.webhook_position default values`.execute(database);
    await sql`
      create table counterfoil.webhook_messages (
        event_id text collate "C" primary key,
        tenant_id text not null,
        environment_id text not null,
        event_type text not null,
        resource_id text not null,
        position bigint not null,
        sequence bigint not null,
        stream text not null,
        revision bigint not null,
        correlation_id text not null,
        occurred_at timestamptz not null,
        created_at timestamptz not null default now(),
        body bytea not null
      )`.execute(database);
    // Rows change state a few times and then rest: room for that, and a vacuum that keeps up.
    await sql`
      create table counterfoil.webhook_deliveries (
        id bigint generated always as identity primary key,
        event_id text collate "C" not null
          references counterfoil.webhook_messages on delete cascade,
        endpoint_id text collate "C" not null,
        environment_id text collate "C" not null,
        resource_id text collate "C" not null,
        state text not null check (state in
          ('pending', 'waiting', 'sending', 'delivered', 'exhausted', 'skipped', 'cancelled')),
        head_of_line_seconds integer,
        attempt integer not null default 0,
        failures integer not null default 0,
        next_at timestamptz not null,
        lease_until timestamptz,
        created_at timestamptz not null default now(),
        finished_at timestamptz,
        unique (event_id, endpoint_id)
      ) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02,
              autovacuum_vacuum_threshold = 1000)`.execute(database);
    await createDeliveryIndexes(database);
    await sql`
      create table counterfoil.webhook_attempts (
        delivery_id bigint not null references counterfoil.webhook_deliveries on delete cascade,
        attempt integer not null,
        outcome text not null check (outcome in ('answer', 'failure', 'lost')),
        status_code integer,
        reason text,
        detail text not null default '',
        milliseconds integer,
        recorded_at timestamptz not null default now(),
        primary key (delivery_id, attempt)
      )`.execute(database);
    // For the retention alone, and next to nothing to keep: rows lie in the order of time.
    await sql`
      create index webhook_attempts_time on counterfoil.webhook_attempts
        using brin (recorded_at)`.execute(database);
  },
};

/** Only the queue itself is indexed, so that what has been delivered costs nothing to claims. */
async function createDeliveryIndexes(database: Kysely<unknown>): Promise<void> {
  await sql`
    create index webhook_deliveries_due on counterfoil.webhook_deliveries
      (endpoint_id, next_at, id) where state = 'pending'`.execute(database);
  await sql`
    create index webhook_deliveries_ordering on counterfoil.webhook_deliveries
      (endpoint_id, resource_id, id)
      where state in ('pending', 'waiting', 'sending')`.execute(database);
  await sql`
    create index webhook_deliveries_overtaking on counterfoil.webhook_deliveries
      (next_at) where state = 'waiting'`.execute(database);
  await sql`
    create index webhook_deliveries_sending on counterfoil.webhook_deliveries
      (endpoint_id) where state = 'sending'`.execute(database);
}

/**
 * A delivery follows the others with its ordering key: those about the same resource, or all of its
 * endpoint, or none. What was asked for by hand is a delivery of its own, without a key.
 */
const ordering: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`
      alter table counterfoil.webhook_deliveries
        add column ordering_key text collate "C",
        add column trigger text not null default 'scheduled' check (trigger in
          ('scheduled', 'recovery', 'resend', 'test')),
        add column task_id text collate "C" not null default '',
        add column queued_at timestamptz not null default now(),
        drop constraint webhook_deliveries_event_id_endpoint_id_key`.execute(database);
    await sql`
      update counterfoil.webhook_deliveries set ordering_key = resource_id, queued_at = created_at`.execute(
      database,
    );
    // What was asked for by hand bears the id of its task, so that it too comes about once.
    await sql`
      create unique index webhook_deliveries_once on counterfoil.webhook_deliveries
        (event_id, endpoint_id, task_id)`.execute(database);
    // By environment first: an index by endpoint would be taken for the queue's, which are smaller.
    await sql`
      create index webhook_deliveries_endpoint on counterfoil.webhook_deliveries
        (environment_id, endpoint_id, created_at)`.execute(database);
    await sql`drop index counterfoil.webhook_deliveries_ordering`.execute(database);
    await sql`
      create index webhook_deliveries_ordering on counterfoil.webhook_deliveries
        (endpoint_id, ordering_key, id) where state in ('pending', 'waiting', 'sending')`.execute(
      database,
    );
    await sql`
      create index webhook_messages_environment on counterfoil.webhook_messages
        (environment_id, event_id)`.execute(database);
    await sql`
      create index webhook_messages_time on counterfoil.webhook_messages
        (created_at)`.execute(database);
  },
};

/** The health of endpoints, and the rate at which they may be sent to. */
const health: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`
      create table counterfoil.webhook_health (
        endpoint_id text collate "C" primary key,
        environment_id text collate "C" not null,
        enabled_at timestamptz not null,
        state text not null check (state in ('closed', 'open', 'half_open')),
        failures_in_row integer not null,
        window_started_at timestamptz not null,
        window_attempts integer not null,
        window_failures integer not null,
        probes integer not null,
        next_probe_at timestamptz,
        allowance integer,
        failing_since timestamptz,
        last_failure_at timestamptz,
        last_success_at timestamptz,
        disable_reason text
      ) with (fillfactor = 50)`.execute(database);
    await sql`
      create table counterfoil.webhook_rates (
        endpoint_id text collate "C" primary key,
        used_until timestamptz not null
      ) with (fillfactor = 50)`.execute(database);
  },
};

/** The tasks asked for by hand, their progress, and what has to be told in the log. */
const tasks: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`
      create table counterfoil.webhook_task_runs (
        task_id text collate "C" primary key,
        environment_id text collate "C" not null,
        state text not null check (state in ('running', 'finished', 'cancelled', 'refused')),
        reached text collate "C" not null default '',
        examined bigint not null default 0,
        queued bigint not null default 0,
        message_id text,
        detail text,
        started_at timestamptz not null default now(),
        finished_at timestamptz
      )`.execute(database);
    // The log remembers the last report. Should this table be lost, the next one must not look old.
    await sql`
      do $$ begin execute format(
        'create table counterfoil.webhook_reports (
           id bigint generated always as identity (start with %s) primary key,
           environment_id text collate "C" not null,
           tenant_id text not null,
           endpoint_id text collate "C" not null,
           message json not null)', (extract(epoch from now()) * 1000)::bigint); end $$`.execute(
      database,
    );
    await sql`
      create index webhook_reports_endpoint on counterfoil.webhook_reports
        (endpoint_id, id)`.execute(database);
    await sql`
      alter table counterfoil.webhook_attempts
        add column environment_id text collate "C" not null default '',
        add column endpoint_id text collate "C" not null default '',
        add column event_id text collate "C" not null default '',
        add column trigger text not null default 'scheduled'`.execute(database);
    await sql`
      update counterfoil.webhook_attempts attempt
         set environment_id = delivery.environment_id, endpoint_id = delivery.endpoint_id,
             event_id = delivery.event_id
        from counterfoil.webhook_deliveries delivery
       where delivery.id = attempt.delivery_id`.execute(database);
    await sql`
      create index webhook_attempts_endpoint on counterfoil.webhook_attempts
        (environment_id, endpoint_id, recorded_at)`.execute(database);
    await showToReaders(database);
  },
};

/** Tables that the API reads. */
const shownTables = [
  'webhook_messages',
  'webhook_deliveries',
  'webhook_attempts',
  'webhook_health',
  'webhook_task_runs',
];

/** The API reads under a role of its own and sees the rows of its caller's environment alone. */
async function showToReaders(database: Kysely<unknown>): Promise<void> {
  for (const table of shownTables.map((name) => sql.id('counterfoil', name))) {
    await sql`alter table ${table} enable row level security`.execute(database);
    await sql`
      create policy environment on ${table} for select to counterfoil_reader using
        (environment_id = (select current_setting('counterfoil.environment', true)))`.execute(
      database,
    );
    await sql`grant select on ${table} to counterfoil_reader`.execute(database);
  }
}

/** Migrations of the delivery worker's tables, by name. */
export const webhookMigrations: Readonly<Record<string, Migration>> = {
  webhooks_0001_queue: queue,
  webhooks_0002_ordering: ordering,
  webhooks_0003_health: health,
  webhooks_0004_tasks: tasks,
  webhooks_0005_release_numbers: releaseNumbers,
  webhooks_0006_task_order: taskOrder,
  webhooks_0007_addresses: addresses,
  webhooks_0008_under_way: bulkhead,
};
