import { type Kysely, type Migration, sql } from 'kysely';

/**
 * The engine's own operational tables: how far the projector has come, and the state of every
 * read table. The projector's row is the position that readers wait for; tables that follow it
 * have the same position in their rows, others are behind.
 */
const projection: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`
      create table counterfoil.projector (
        singleton boolean primary key default true check (singleton),
        position bigint not null default 0,
        event_position bigint,
        event_stream text,
        event_revision bigint,
        event_hash text,
        updated_at timestamptz not null default now()
      )`.execute(database);
    await sql`insert into counterfoil.projector default values`.execute(database);
    // Rewritten with every batch: the room in its page keeps the updates in place.
    await sql`
      create table counterfoil.projection (
        name text not null,
        version integer not null,
        generation integer not null default 0,
        relation text not null unique,
        status text not null default 'building'
          check (status in ('building', 'live', 'stopped', 'retired')),
        serving boolean not null default false,
        position bigint not null default 0,
        error json,
        shape text not null,
        rebuild_requested boolean not null default false,
        updated_at timestamptz not null default now(),
        primary key (name, version, generation)
      ) with (fillfactor = 20)`.execute(database);
    await sql`
      create unique index projection_serving on counterfoil.projection (name) where serving`.execute(
      database,
    );
  },
};

/** Where the relay is, for the day when the public stream cannot tell; see relay/resume.ts. */
const relayCheckpoint: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`
      create table counterfoil.relay_checkpoint (
        singleton boolean primary key default true check (singleton),
        stream text not null,
        sequence bigint not null,
        position bigint not null,
        updated_at timestamptz not null default now()
      )`.execute(database);
  },
};

/** Migrations of the engine, by name. They come before those of the modules. */
export const engineMigrations: Readonly<Record<string, Migration>> = {
  engine_0001_projection: projection,
  engine_0002_relay_checkpoint: relayCheckpoint,
};
