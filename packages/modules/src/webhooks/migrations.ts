import { type Kysely, type Migration, sql } from 'kysely';

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
        guard_seconds integer,
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
    create index webhook_deliveries_lane on counterfoil.webhook_deliveries
      (endpoint_id, resource_id, id)
      where state in ('pending', 'waiting', 'sending')`.execute(database);
  await sql`
    create index webhook_deliveries_overtaking on counterfoil.webhook_deliveries
      (next_at) where state = 'waiting'`.execute(database);
  await sql`
    create index webhook_deliveries_sending on counterfoil.webhook_deliveries
      (endpoint_id) where state = 'sending'`.execute(database);
}

/** Migrations of the delivery worker's tables, by name. */
export const webhookMigrations: Readonly<Record<string, Migration>> = {
  webhooks_0001_queue: queue,
};
