import { schemaName } from '../database/database.ts';
import type { EngineTables } from '../database/schema.ts';
import { openKysely, transactionTime } from '../database/statements.ts';
import type { CheckpointStore } from './relay-session.ts';

/** Keeps the relay's checkpoint in Postgres. Its own place is in the public stream. */
export function postgresCheckpoint(url: string): CheckpointStore & { close(): Promise<void> } {
  const tables = openKysely<EngineTables>(url, 1).withSchema(schemaName);
  return {
    async load() {
      const row = await tables.selectFrom('relay_checkpoint').selectAll().executeTakeFirst();
      if (!row) return null;
      const { stream, sequence, position } = row;
      return { stream, sequence: Number(sequence), position: BigInt(position) };
    },
    async save({ stream, sequence, position }) {
      const saved = { stream, sequence: String(sequence), position: String(position) };
      await tables
        .insertInto('relay_checkpoint')
        .values(saved)
        .onConflict((conflict) =>
          conflict.column('singleton').doUpdateSet({ ...saved, updated_at: transactionTime }),
        )
        .execute();
    },
    close: () => tables.destroy(),
  };
}
