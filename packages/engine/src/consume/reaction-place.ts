import { setTimeout as sleep } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import { schemaName } from '../database/database.ts';
import type { EngineTables, Json } from '../database/schema.ts';
import { openKysely, transactionTime } from '../database/statements.ts';
import type { AnyProjection } from '../define/projection.ts';
import { shared } from '../log/shared.ts';
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

/** A place as its row has it. */
interface SavedPlace {
  readonly name: string;
  readonly position: string;
  readonly held_back: string;
}

const savePlaces = (tables: Kysely<EngineTables>, rows: readonly SavedPlace[]): Promise<unknown> =>
  tables
    .insertInto('reaction')
    .values(rows)
    .onConflict((conflict) =>
      conflict.column('name').doUpdateSet((row) => ({
        position: row.ref('excluded.position'),
        held_back: row.ref('excluded.held_back'),
        updated_at: transactionTime,
      })),
    )
    .execute();

/**
 * Places that are saved in so many milliseconds are one statement: all reactions save theirs every second, and each would
 * pay for a commit.
 */
const gatherMilliseconds = 50;

/** Keeps the places of reactions in a database. It connects when needed. */
export function reactionPlaces(url: string): ReactionPlaces {
  const tables = openKysely<EngineTables>(url, 2).withSchema(schemaName);
  const waiting = new Map<string, SavedPlace>();
  const write = shared(async () => {
    await sleep(gatherMilliseconds);
    const rows = [...waiting.values()];
    waiting.clear();
    try {
      if (rows.length > 0) await savePlaces(tables, rows);
    } catch (error) {
      // Some of those who wait for them wait for the next write.
      for (const row of rows) if (!waiting.has(row.name)) waiting.set(row.name, row);
      throw error;
    }
  });
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
    save(name, { position, heldBack }) {
      const held_back = JSON.stringify(Object.fromEntries(heldBack));
      waiting.set(name, { name, position: String(position), held_back });
      return write();
    },
    recordsOf: ({ name }) =>
      (tables as unknown as Kysely<Record<string, RecordPlace>>)
        .selectFrom(name)
        .select(['id', 'tenant_id', 'environment_id'])
        .execute(),
    close: () => tables.destroy(),
  };
}
