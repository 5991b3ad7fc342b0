import { type Kysely, type Migration, sql } from 'kysely';

/*
 * The tables of the delivery worker: how far it has read, what is to be delivered to whom, and
 * what came of each attempt. They cannot be rebuilt from the log, unlike read models. Their types
 * are in schema.ts.
 */

const createMessages = async (database: Kysely<unknown>): Promise<void> => {
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
  await sql`
    create index webhook_messages_environment on counterfoil.webhook_messages
      (environment_id, event_id)`.execute(database);
  await sql`
    create index webhook_messages_time on counterfoil.webhook_messages
      (created_at)`.execute(database);
};

/**
 * A delivery is `pending` (due at next_at), `waiting` (for an earlier one of its group, at most until
 * next_at), `sending` (until lease_until, when its worker must have died) or in an end state.
 *
 * It follows the others with its ordering key: those about the same resource, or all of its
 * endpoint, or none. They go in the order of the log, which is that of their messages' ids: what is
 * put back or made later has an id of its own that says nothing about it. The release number rises
 * with every delivery that is let go, so that the last of a group is known. What was asked for by
 * hand is a delivery of its own, without a key, and bears the id of its task in `task_id`, so that it
 * too comes about once.
 */
const createDeliveries = async (database: Kysely<unknown>): Promise<void> => {
  await sql`create sequence counterfoil.webhook_release_numbers`.execute(database);
  // Rows change state a few times and then rest: room for that, and a vacuum that keeps up.
  await sql`
    create table counterfoil.webhook_deliveries (
      id bigint generated always as identity primary key,
      event_id text collate "C" not null
        references counterfoil.webhook_messages on delete cascade,
      endpoint_id text collate "C" not null,
      environment_id text collate "C" not null,
      resource_id text collate "C" not null,
      ordering_key text collate "C",
      release_number bigint,
      trigger text not null default 'scheduled'
        check (trigger in ('scheduled', 'recovery', 'resend', 'test')),
      task_id text collate "C" not null default '',
      state text not null check (state in
        ('pending', 'waiting', 'sending', 'delivered', 'exhausted', 'skipped', 'cancelled')),
      head_of_line_seconds integer,
      attempt integer not null default 0,
      failures integer not null default 0,
      next_at timestamptz not null,
      lease_until timestamptz,
      created_at timestamptz not null default now(),
      queued_at timestamptz not null default now(),
      finished_at timestamptz
    ) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02,
            autovacuum_vacuum_threshold = 1000)`.execute(database);
  await sql`
    create unique index webhook_deliveries_once on counterfoil.webhook_deliveries
      (event_id, endpoint_id, task_id)`.execute(database);
  // By environment first: an index by endpoint would be taken for the queue's, which are smaller.
  await sql`
    create index webhook_deliveries_endpoint on counterfoil.webhook_deliveries
      (environment_id, endpoint_id, created_at)`.execute(database);
  await createQueueIndexes(database);
};

/** Only the queue itself is in these, so that finished deliveries cost claims nothing. */
const createQueueIndexes = async (database: Kysely<unknown>): Promise<void> => {
  await sql`
    create index webhook_deliveries_due on counterfoil.webhook_deliveries
      (endpoint_id, next_at, id) where state = 'pending'`.execute(database);
  await sql`
    create index webhook_deliveries_ordering on counterfoil.webhook_deliveries
      (endpoint_id, ordering_key, event_id)
      where state in ('pending', 'waiting', 'sending')`.execute(database);
  // Each delivery asks whether its group may go on, and thousands may wait in that.
  await sql`
    create index webhook_deliveries_under_way on counterfoil.webhook_deliveries
      (endpoint_id, ordering_key) where state in ('pending', 'sending')`.execute(database);
  await sql`
    create index webhook_deliveries_overtaking on counterfoil.webhook_deliveries
      (next_at) where state = 'waiting'`.execute(database);
  await sql`
    create index webhook_deliveries_sending on counterfoil.webhook_deliveries
      (endpoint_id) where state = 'sending'`.execute(database);
};

const createAttempts = async (database: Kysely<unknown>): Promise<void> => {
  await sql`
    create table counterfoil.webhook_attempts (
      delivery_id bigint not null references counterfoil.webhook_deliveries on delete cascade,
      attempt integer not null,
      environment_id text collate "C" not null,
      endpoint_id text collate "C" not null,
      event_id text collate "C" not null,
      trigger text not null,
      outcome text not null check (outcome in ('answer', 'failure', 'lost')),
      status_code integer,
      reason text,
      detail text not null default '',
      milliseconds integer,
      address text,
      recorded_at timestamptz not null default now(),
      primary key (delivery_id, attempt)
    )`.execute(database);
  // For the retention alone, and next to nothing to keep: rows lie in the order of time.
  await sql`
    create index webhook_attempts_time on counterfoil.webhook_attempts
      using brin (recorded_at)`.execute(database);
  await sql`
    create index webhook_attempts_endpoint on counterfoil.webhook_attempts
      (environment_id, endpoint_id, recorded_at)`.execute(database);
};

/** The state of each endpoint's circuit breaker, and how fast it may be sent to. */
const createHealth = async (database: Kysely<unknown>): Promise<void> => {
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
};

/** The progress of tasks, and the reports that the log is to have. */
const createTasks = async (database: Kysely<unknown>): Promise<void> => {
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
      requested_at timestamptz not null,
      started_at timestamptz not null default now(),
      finished_at timestamptz
    )`.execute(database);
  // Finds tasks that have not been begun without going through all that there were.
  await sql`
    create index webhook_task_runs_requested on counterfoil.webhook_task_runs
      (environment_id, requested_at)`.execute(database);
  await sql`
    create index webhook_task_runs_running on counterfoil.webhook_task_runs
      (started_at) where state = 'running'`.execute(database);
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
const showToReaders = async (database: Kysely<unknown>): Promise<void> => {
  for (const table of shownTables.map((name) => sql.id('counterfoil', name))) {
    await sql`alter table ${table} enable row level security`.execute(database);
    await sql`
      create policy environment on ${table} for select to counterfoil_reader using
        (environment_id = (select current_setting('counterfoil.environment', true)))`.execute(
      database,
    );
    await sql`grant select on ${table} to counterfoil_reader`.execute(database);
  }
};

/** Migrations of the delivery worker's tables, by name. */
export const webhookMigrations: Readonly<Record<string, Migration>> = {
  webhooks_0001_queue: {
    async up(database) {
      await createMessages(database);
      await createDeliveries(database);
      await createAttempts(database);
      await createHealth(database);
      await createTasks(database);
      await showToReaders(database);
    },
  },
};
