import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';

/** Bytes that an installation takes. */
export interface DiskSpace {
  /** Blocks of the files of the event store that are in use, its own preallocation included. */
  readonly store: number;
  /** Tables and indexes of the read models; not PostgreSQL's own log. */
  readonly postgres: number;
}

const bytesPerBlock = 512;

/** Measures the disk space that the servers of an installation use now. */
export async function diskSpace(folder: string, databaseUrl: string): Promise<DiskSpace> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ bytes: string }>(
      'select pg_database_size(current_database()) as bytes',
    );
    return { store: bytesIn(join(folder, 'eventstore', 'data')), postgres: Number(rows[0]?.bytes) };
  } finally {
    await client.end();
  }
}

function bytesIn(folder: string): number {
  let bytes = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (entry.isFile())
      bytes += statSync(join(entry.parentPath, entry.name)).blocks * bytesPerBlock;
  }
  return bytes;
}
