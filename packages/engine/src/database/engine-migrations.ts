import { type Kysely, type Migration, sql } from 'kysely';
import { readerRole, scopeSettings } from '../projection/table-shape.ts';

/**
 * The engine's own operational tables: how far the projector has come, and the state of every
 * read table. The projector's row is the position that readers wait for, and of all tables that stand
 * together: one row moves with a batch, however many tables there are. A table that fills, or is
 * stopped, has a position of its own.
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
    await sql`
      create table counterfoil.projection (
        name text not null,
        version integer not null,
        generation integer not null default 0,
        relation text not null unique,
        status text not null default 'building'
          check (status in ('building', 'live', 'stopped', 'retired')),
        serving boolean not null default false,
        position bigint default 0,
        error json,
        shape text not null,
        rebuild_requested boolean not null default false,
        updated_at timestamptz not null default now(),
        primary key (name, version, generation)
      )`.execute(database);
    await sql`
      create unique index projection_serving on counterfoil.projection (name) where serving`.execute(
      database,
    );
    await sql`
      create view counterfoil.projection_progress as
      select name, version, generation, relation, status, serving, error, shape, rebuild_requested,
             updated_at, position is null as stands_together,
             coalesce(position, (select position from counterfoil.projector)) as position
        from counterfoil.projection`.execute(database);
  },
};

/**
 * The relay's place in the log, for the day when the public stream cannot tell it; see
 * relay/resume.ts.
 */
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

/**
 * The progress of the verification of the log, and its findings. The view shows it to one tenant
 * and environment as if it were a row of theirs: that a row of another tenant is broken is not
 * theirs to know.
 */
const verification: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`
      create table counterfoil.verification (
        singleton boolean primary key default true check (singleton),
        round bigint not null default 1,
        position bigint not null default 0,
        event_stream text,
        event_revision bigint,
        event_hash text,
        verified_at timestamptz,
        completed_position bigint,
        completed_at timestamptz
      ) with (fillfactor = 20)`.execute(database);
    await sql`insert into counterfoil.verification default values`.execute(database);
    await sql`
      create table counterfoil.verification_finding (
        kind text not null check (kind in ('log', 'event', 'checkpoint', 'read_model')),
        place text not null,
        scope text,
        problem text not null,
        round bigint not null,
        found_at timestamptz not null default now(),
        primary key (kind, place)
      )`.execute(database);
    await sql.raw(verificationView).execute(database);
    await sql
      .raw(`grant select on counterfoil.ledger_verification to ${readerRole}`)
      .execute(database);
  },
};

const instantOf = (column: string): string =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

const ownFindings = `select * from counterfoil.verification_finding
  where scope is null or scope in (current_setting('${scopeSettings.tenant}', true),
                                   current_setting('${scopeSettings.environment}', true))`;

const verificationView = `
  create view counterfoil.ledger_verification as
  select 'current' as id,
         current_setting('${scopeSettings.tenant}', true) as tenant_id,
         current_setting('${scopeSettings.environment}', true) as environment_id,
         null::text as status,
         round as revision,
         json_build_object(
           'verified_position', position::text,
           'verified_at', ${instantOf('verified_at')},
           'round', round,
           'completed_position', completed_position::text,
           'completed_at', ${instantOf('completed_at')},
           'findings', coalesce((
             select json_agg(json_build_object('kind', kind, 'place', place, 'problem', problem,
                                               'found_at', ${instantOf('found_at')})
                             order by found_at, kind, place)
               from (${ownFindings} order by found_at, kind, place limit 100) as own), '[]'::json),
           'findings_total', (select count(*) from (${ownFindings}) as own)
         ) as resource
    from counterfoil.verification`;

/** The place of each reaction: every event up to the position is handled, or of a record held back. */
const reaction: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`
      create table counterfoil.reaction (
        name text primary key,
        position bigint not null,
        held_back json not null default '{}',
        updated_at timestamptz not null default now()
      ) with (fillfactor = 20)`.execute(database);
  },
};

/** The bytes that each tenant has put on the public stream within the hour that began at an instant. */
const publicBytes: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`
      create table counterfoil.public_bytes (
        tenant_id text primary key,
        bytes bigint not null,
        began_at timestamptz not null default now(),
        position bigint not null
      ) with (fillfactor = 20)`.execute(database);
  },
};

/** The progress of the tables of facts, of which each filling has a schema of its own: see intake/README.md. */
const filling: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`
      create table counterfoil.filling (
        name text not null,
        version integer not null,
        generation integer not null,
        serving boolean not null default false,
        retired boolean not null default false,
        rebuild_requested boolean not null default false,
        position bigint not null default 0,
        part_changes integer not null default 0,
        event_position bigint,
        event_stream text,
        event_revision bigint,
        event_hash text,
        updated_at timestamptz not null default now(),
        primary key (name, version, generation)
      ) with (fillfactor = 20)`.execute(database);
    // Whatever the filling: a rebuild changes nothing about what is to be kept.
    await sql`
      create table counterfoil.fact_part (
        name text not null,
        part text not null,
        wish text not null check (wish in ('kept', 'dropped')),
        problem text,
        asked_at timestamptz not null default now(),
        primary key (name, part)
      )`.execute(database);
  },
};

/** Readers may ask how far the tables of facts that they read have come, in the moment in which they read them. */
const fillingPosition: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`
      grant select (name, version, generation, serving, position) on counterfoil.filling
         to ${sql.id(readerRole)}`.execute(database);
  },
};

/** The position of the last change of what facts count as: most that a filling takes changes nothing, and those who read several times must know. */
const countedPosition: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`
      alter table counterfoil.filling add column counted_position bigint not null default 0`.execute(
      database,
    );
    await sql`
      grant select (counted_position) on counterfoil.filling to ${sql.id(readerRole)}`.execute(
      database,
    );
  },
};

/** Files that are too large for the log, in pieces: see files/README.md. */
const files: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`
      create table counterfoil.file (
        environment_id text collate "C" not null,
        name text collate "C" not null,
        mark text not null,
        bytes bigint not null,
        touched_at timestamptz not null default now(),
        primary key (environment_id, name)
      )`.execute(database);
    await sql`
      create table counterfoil.file_piece (
        environment_id text collate "C" not null,
        name text collate "C" not null,
        place bigint not null,
        content bytea not null,
        primary key (environment_id, name, place),
        foreign key (environment_id, name) references counterfoil.file on delete cascade
      )`.execute(database);
    // What comes in is often packed already, and is read a few times at most.
    await sql`
      alter table counterfoil.file_piece alter column content set storage external`.execute(
      database,
    );
  },
};

/** Migrations of the engine, by name. They come before those of the modules. */
export const engineMigrations: Readonly<Record<string, Migration>> = {
  engine_0001_projection: projection,
  engine_0002_relay_checkpoint: relayCheckpoint,
  engine_0003_verification: verification,
  engine_0004_reaction: reaction,
  engine_0005_public_bytes: publicBytes,
  engine_0006_filling: filling,
  engine_0007_filling_position: fillingPosition,
  engine_0008_files: files,
  engine_0009_counted_position: countedPosition,
};
