import { type Kysely, type Migration, sql } from 'kysely';

/**
 * Within an ordering key deliveries go in the order of the log, which is that of their messages' ids:
 * what is put back or made later has an id of its own that says nothing about it. The release number
 * rises with every delivery that is let go, so that the last of a group is known.
 */
export const releaseNumbers: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`create sequence counterfoil.webhook_release_numbers`.execute(database);
    await sql`alter table counterfoil.webhook_deliveries add column release_number bigint`.execute(
      database,
    );
    await sql`
      update counterfoil.webhook_deliveries delivery set release_number = placed.release_number
        from (select id, row_number() over (order by id) as release_number
                from counterfoil.webhook_deliveries
               where state in ('pending', 'sending') and ordering_key is not null) placed
       where delivery.id = placed.id`.execute(database);
    await sql`
      select setval('counterfoil.webhook_release_numbers', 1 + coalesce(max(release_number), 0))
        from counterfoil.webhook_deliveries`.execute(database);
    await sql`drop index counterfoil.webhook_deliveries_ordering`.execute(database);
    await sql`
      create index webhook_deliveries_ordering on counterfoil.webhook_deliveries
        (endpoint_id, ordering_key, event_id) where state in ('pending', 'waiting', 'sending')`.execute(
      database,
    );
  },
};

/** The index that finds the tasks not yet begun without going through all there were. */
export const taskOrder: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`
      alter table counterfoil.webhook_task_runs add column requested_at timestamptz`.execute(
      database,
    );
    // When they were asked for stands in the read model, which may not be there. A worker that was
    // away may have begun them late.
    await sql`
      update counterfoil.webhook_task_runs set requested_at = started_at - interval '7 days'`.execute(
      database,
    );
    await sql`
      alter table counterfoil.webhook_task_runs alter column requested_at set not null`.execute(
      database,
    );
    await sql`
      create index webhook_task_runs_requested on counterfoil.webhook_task_runs
        (environment_id, requested_at)`.execute(database);
    await sql`
      create index webhook_task_runs_running on counterfoil.webhook_task_runs
        (started_at) where state = 'running'`.execute(database);
  },
};

/** The address that an attempt was sent to. */
export const addresses: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`alter table counterfoil.webhook_attempts add column address text`.execute(database);
  },
};

/**
 * The index of what is due or under way in an ordered group, apart from what waits there: each delivery asks
 * whether its group may go on, and thousands may wait.
 */
export const bulkhead: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`
      create index webhook_deliveries_under_way on counterfoil.webhook_deliveries
        (endpoint_id, ordering_key) where state in ('pending', 'sending')`.execute(database);
  },
};
