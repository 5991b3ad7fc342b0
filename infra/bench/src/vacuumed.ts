import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';

const waitMilliseconds = 150_000;
const pollMilliseconds = 500;

/** Share of the pages of a table that are read by the index alone. */
const wantedShare = 0.95;

const seenShare = `
  select c.relallvisible::float8 / greatest(1, c.relpages) as share
    from pg_class c
    join counterfoil.projection p on p.relation = c.relname and p.serving
   where c.relnamespace = 'counterfoil'::regnamespace and p.name = $1`;

/**
 * Waits until PostgreSQL has vacuumed a freshly written read table, as it does by itself about a minute
 * later: reads in the first minute of a catalogue say little. Returns the seconds that it took, or null when
 * it did not happen within two and a half minutes.
 */
export async function untilVacuumed(databaseUrl: string, table: string): Promise<number | null> {
  const client = new Client({ connectionString: databaseUrl });
  // When the run is interrupted its database goes away; an error without a listener would end the
  // process before it has removed its folder.
  client.on('error', () => undefined);
  await client.connect();
  const startedAt = performance.now();
  try {
    while (performance.now() - startedAt < waitMilliseconds) {
      const { rows } = await client.query<{ share: number }>(seenShare, [table]);
      if ((rows[0]?.share ?? 0) >= wantedShare) {
        return Math.round((performance.now() - startedAt) / 1_000);
      }
      await pause(pollMilliseconds);
    }
    return null;
  } finally {
    await client.end();
  }
}
