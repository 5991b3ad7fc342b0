import type { CheckpointStore } from '@counterfoil/engine';
import { Pool } from 'pg';

interface CheckpointRow {
  readonly stream: string;
  readonly sequence: string;
  readonly position: string;
}

/** Keeps the relay's checkpoint in Postgres. Its own place is in the public stream. */
export function relayCheckpoint(databaseUrl: string): CheckpointStore & { close(): Promise<void> } {
  const pool = new Pool({ connectionString: databaseUrl, max: 1, connectionTimeoutMillis: 5_000 });
  // A broken idle connection is replaced at the next use; without a listener it would end the process.
  pool.on('error', () => undefined);
  return {
    async load() {
      const { rows } = await pool.query<CheckpointRow>(
        'select stream, sequence::text, position::text from counterfoil.relay_checkpoint',
      );
      const [row] = rows;
      return row
        ? { stream: row.stream, sequence: Number(row.sequence), position: BigInt(row.position) }
        : null;
    },
    async save({ stream, sequence, position }) {
      await pool.query(
        `insert into counterfoil.relay_checkpoint (stream, sequence, position)
         values ($1, $2, $3)
         on conflict (singleton) do update set stream = excluded.stream,
           sequence = excluded.sequence, position = excluded.position, updated_at = now()`,
        [stream, sequence, String(position)],
      );
    },
    close: () => pool.end(),
  };
}
