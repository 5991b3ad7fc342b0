import { Problem } from '@counterfoil/kernel';
import { Pool, type PoolClient } from 'pg';
import { sessionSettings } from '../database/database.ts';
import { isUnavailable } from '../database/database-errors.ts';
import { type FileName, type FileState, type FileStore, FilesFull } from '../define/file-store.ts';

export interface FileStoreOptions {
  readonly database: string;
  /**
   * Bytes that the files of an environment may have together. Those who add at the same time do not see each other's piece, so a few
   * pieces may come on top.
   */
  readonly environmentBytes: number;
}

/** A file store with its sessions of the database. */
export interface OpenFileStore extends FileStore {
  /** Removes files with a part of a name that nobody has added to for so many hours. */
  removeOlderThan(hours: number, nameLike: string): Promise<void>;
  close(): Promise<void>;
}

/** Sessions at most. A piece takes one for as long as it is written. */
const sessions = 4;
const waitMilliseconds = 10_000;
const statementMilliseconds = 30_000;

const away = (cause: unknown): Problem =>
  new Problem('service_unavailable', 'The database cannot keep files now. Retry shortly.', {
    retryAfterSeconds: 2,
    cause,
  });

const openPool = (database: string): Pool => {
  const pool = new Pool({
    connectionString: database,
    application_name: 'counterfoil files',
    options: sessionSettings,
    max: sessions,
    connectionTimeoutMillis: waitMilliseconds,
    statement_timeout: statementMilliseconds,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
  });
  // A session that breaks is replaced by the pool. Without listeners its loss would end the process.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
};

async function asked<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw isUnavailable(error) ? away(error) : error;
  }
}

/** Runs work in a transaction. What throws is rolled back. */
const inTransaction = <Result>(
  pool: Pool,
  work: (client: PoolClient) => Promise<Result>,
): Promise<Result> =>
  asked(async () => {
    const client = await pool.connect();
    let failure: Error | undefined;
    try {
      await client.query('begin');
      const result = await work(client);
      await client.query('commit');
      return result;
    } catch (error) {
      failure = error as Error;
      await client.query('rollback').catch(() => undefined);
      throw error;
    } finally {
      // A session whose transaction failed may be broken; the pool makes another one.
      client.release(failure);
    }
  });

/** Opens the files in a database. */
export function createFileStore({ database, environmentBytes }: FileStoreOptions): OpenFileStore {
  return new PostgresFiles(openPool(database), environmentBytes);
}

class PostgresFiles implements OpenFileStore {
  readonly #pool: Pool;
  readonly #environmentBytes: number;

  constructor(pool: Pool, environmentBytes: number) {
    this.#pool = pool;
    this.#environmentBytes = environmentBytes;
  }

  begin({ environmentId, name }: FileName, mark: string, keptBytes = 0): Promise<number> {
    return inTransaction(this.#pool, async (client) => {
      // The row is locked from here on, and with it the pieces.
      await client.query(
        `insert into counterfoil.file (environment_id, name, mark, bytes) values ($1, $2, $3, 0)
           on conflict (environment_id, name)
           do update set mark = excluded.mark, touched_at = now()`,
        [environmentId, name, mark],
      );
      await client.query(
        `delete from counterfoil.file_piece
          where environment_id = $1 and name = $2 and place >= $3`,
        [environmentId, name, keptBytes],
      );
      const { rows } = await client.query<{ bytes: string }>(
        `update counterfoil.file
            set bytes = (select coalesce(sum(octet_length(content)), 0) from counterfoil.file_piece
                          where environment_id = $1 and name = $2)
          where environment_id = $1 and name = $2 returning bytes`,
        [environmentId, name],
      );
      const bytes = Number(rows[0]?.bytes);
      if (bytes > keptBytes) throw new RangeError(`no piece of ${name} ends at byte ${keptBytes}`);
      return bytes;
    });
  }

  stateOf({ environmentId, name }: FileName): Promise<FileState | null> {
    return asked(async () => {
      const { rows } = await this.#pool.query<{ mark: string; bytes: string }>(
        'select mark, bytes from counterfoil.file where environment_id = $1 and name = $2',
        [environmentId, name],
      );
      const [row] = rows;
      return row ? { mark: row.mark, bytes: Number(row.bytes) } : null;
    });
  }

  add(
    { environmentId, name }: FileName,
    mark: string,
    behindBytes: number,
    piece: Uint8Array,
  ): Promise<boolean> {
    return inTransaction(this.#pool, async (client) => {
      const { rowCount } = await client.query(
        `update counterfoil.file set bytes = bytes + $5, touched_at = now()
          where environment_id = $1 and name = $2 and mark = $3 and bytes = $4`,
        [environmentId, name, mark, behindBytes, piece.byteLength],
      );
      if (rowCount === 0) return false;
      const { rows } = await client.query<{ bytes: string }>(
        'select sum(bytes) as bytes from counterfoil.file where environment_id = $1',
        [environmentId],
      );
      if (Number(rows[0]?.bytes) > this.#environmentBytes) {
        throw new FilesFull(this.#environmentBytes);
      }
      await client.query(
        `insert into counterfoil.file_piece (environment_id, name, place, content)
           values ($1, $2, $3, $4)`,
        [environmentId, name, behindBytes, piece],
      );
      return true;
    });
  }

  async *read({ environmentId, name }: FileName): AsyncGenerator<Uint8Array> {
    for (let place = '0'; ; ) {
      const { rows } = await asked(() =>
        this.#pool.query<{ place: string; content: Buffer }>(
          `select place, content from counterfoil.file_piece
            where environment_id = $1 and name = $2 and place >= $3 order by place limit 1`,
          [environmentId, name, place],
        ),
      );
      const [row] = rows;
      if (!row) return;
      yield row.content;
      place = String(BigInt(row.place) + 1n);
    }
  }

  remove({ environmentId, name }: FileName): Promise<void> {
    return asked(async () => {
      await this.#pool.query(
        'delete from counterfoil.file where environment_id = $1 and name = $2',
        [environmentId, name],
      );
    });
  }

  removeOlderThan(hours: number, nameLike: string): Promise<void> {
    return asked(async () => {
      await this.#pool.query(
        `delete from counterfoil.file
          where touched_at < now() - make_interval(hours => $1) and name like $2`,
        [hours, nameLike],
      );
    });
  }

  close(): Promise<void> {
    return this.#pool.end();
  }
}
