import type { Kysely } from 'kysely';
import { schemaName } from '../database/database.ts';
import type { EngineTables, Json } from '../database/schema.ts';
import { openKysely, transactionTime } from '../database/statements.ts';
import type { AnyProjection } from '../define/projection.ts';
import type { Position } from '../log/types.ts';

/** A record that a reaction holds back: its events from a revision on wait. */
export interface HeldBack {
  revision: number;
  /** The reason, in words for operators. */
  error: string;
}

/**
 * The place of a reaction in the log: every event up to the position has been handled, or waits in a
 * stream that is held back.
 */
export interface ReactionPlace {
  position: Position;
  /** By stream. */
  readonly heldBack: Map<string, HeldBack>;
}

/** The place of a record: its id, with its tenant and environment. */
export interface RecordPlace {
  readonly id: string;
  readonly tenant_id: string;
  readonly environment_id: string | null;
}

/** The side of PostgreSQL that reactions see. */
export interface ReactionPlaces {
  /** Null for a reaction that has never been at work. */
  load(reaction: string): Promise<ReactionPlace | null>;
  save(reaction: string, place: ReactionPlace): Promise<void>;
  /** All records of a read table, of every tenant and whatever their status. */
  recordsOf(table: AnyProjection): Promise<readonly RecordPlace[]>;
  close(): Promise<void>;
}

/** Keeps the places of reactions in a database. It connects when needed. */
export function reactionPlaces(url: string): ReactionPlaces {
  const tables = openKysely<EngineTables>(url, 2).withSchema(schemaName);
  return {
    async load(name) {
      const row = await tables
        .selectFrom('reaction')
        .select(({ cast }) => ['position', cast<Json>('held_back', 'text').as('held_back')])
        .where('name', '=', name)
        .executeTakeFirst();
      if (!row) return null;
      const heldBack: Record<string, HeldBack> = JSON.parse(row.held_back);
      return { position: BigInt(row.position), heldBack: new Map(Object.entries(heldBack)) };
    },
    async save(name, { position, heldBack }) {
      const held_back = JSON.stringify(Object.fromEntries(heldBack));
      const saved = { name, position: String(position), held_back };
      await tables
        .insertInto('reaction')
        .values(saved)
        .onConflict((conflict) =>
          conflict.column('name').doUpdateSet({ ...saved, updated_at: transactionTime }),
        )
        .execute();
    },
    recordsOf: ({ name }) =>
      (tables as unknown as Kysely<Record<string, RecordPlace>>)
        .selectFrom(name)
        .select(['id', 'tenant_id', 'environment_id'])
        .execute(),
    close: () => tables.destroy(),
  };
}
