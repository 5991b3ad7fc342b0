import { sql } from 'kysely';
import { connect } from '../database/database.ts';
import { readProblem } from '../database/database-errors.ts';
import { type ListeningSession, listeningSession } from '../database/listening-session.ts';
import { statements } from '../database/statements.ts';
import type { Place, Reader } from '../define/context.ts';
import type { Log } from '../operations/log.ts';
import { type PositionTracker, trackPosition } from '../projection/position-tracker.ts';
import { createReader, type ReaderOptions } from './reader.ts';
import { ScopedPool } from './scoped-pool.ts';

interface ReadModelOptions {
  readonly url: string;
  readonly log: Log;
  /** The session in which this process listens; one of its own unless given. */
  readonly session?: ListeningSession;
  /** Database sessions for reads, at most; one more listens. Default 10. */
  readonly connections?: number;
  /** Milliseconds after which a statement is given up. Default 10 seconds. */
  readonly statementTimeoutMs?: number;
  /** Milliseconds that a read may wait for a free session. Default 2 seconds. */
  readonly checkoutTimeoutMs?: number;
  /** See `PoolOptions`. */
  readonly sharesReads?: boolean;
  /** See `ReaderContext`. */
  readonly farOffset?: number;
}

/** Sessions for prepared statements at most. They are short, so that few are enough. */
const preparedConnections = 6;

/** The reading side of the read models, for processes that answer requests. */
export interface ReadModel extends PositionTracker {
  /** The reads of one caller: see `Reader`. */
  reader(caller: Place, options?: ReaderOptions): Reader;
  /** The sessions of these reads, for reads of other tables with row-level security. */
  readonly pool: Pick<ScopedPool, 'query'>;
  /** Sessions for statements that are kept prepared, and planned once for all values. */
  readonly prepared: Pick<ScopedPool, 'query'>;
}

/** The reads of a process. */
export interface Readers extends Pick<ReadModel, 'reader' | 'pool' | 'prepared'> {
  close(): Promise<void>;
}

/**
 * Opens the read models for reading, for a process that knows from elsewhere how far they are. It resolves at once and
 * connects when needed, so a process can start before Postgres does; reads are refused with 503 until then.
 */
export function createReaders(
  options: ReadModelOptions & Pick<PositionTracker, 'behindAt'>,
): Readers {
  const shared = {
    url: options.url,
    log: options.log,
    statementTimeoutMs: options.statementTimeoutMs ?? 10_000,
    checkoutTimeoutMs: options.checkoutTimeoutMs ?? 2_000,
    sharesReads: options.sharesReads ?? false,
  };
  const pool = new ScopedPool({ ...shared, connections: options.connections ?? 10 });
  const prepared = new ScopedPool({
    ...shared,
    connections: preparedConnections,
    plansOnce: true,
  });
  const context = {
    pool,
    behindAt: options.behindAt,
    collation: collationOf(options.url),
    farOffset: options.farOffset,
  };
  return {
    pool,
    prepared,
    reader: (caller, readerOptions) => createReader(context, caller, readerOptions),
    async close() {
      await Promise.all([pool.close(), prepared.close()]);
    },
  };
}

/** Opens the read models for reading, and keeps up to date how far they are. */
export function createReadModel(options: ReadModelOptions): ReadModel {
  const session = options.session ?? listeningSession(options.url);
  const tracker = trackPosition(session, options.log);
  const readers = createReaders({ ...options, behindAt: tracker.behindAt });
  return {
    ...tracker,
    reader: readers.reader,
    pool: readers.pool,
    prepared: readers.prepared,
    async close() {
      await Promise.all([tracker.close(), readers.close()]);
    },
  };
}

/** Unicode's rules where the server has them; else those of the database. */
const collations = ['und-x-icu', 'default'] as const;

/** Asks the server once which collation it has for comparing without regard to case. */
function collationOf(url: string): () => Promise<string> {
  let known: string | null = null;
  return async () => {
    if (known) return known;
    try {
      const connection = await connect(url, { application: 'counterfoil api' });
      try {
        const [unicode, fallback] = collations;
        const exists = sql<boolean>`exists (select from pg_collation where collname = ${unicode})`;
        const { rows } = await connection.run(statements.selectNoFrom(exists.as('exists')));
        known = rows[0]?.exists ? unicode : fallback;
        return known;
      } finally {
        await connection.close();
      }
    } catch (error) {
      throw readProblem(error);
    }
  };
}
