import {
  createReadModel,
  type EventStore,
  type FactsOf,
  factsFrom,
  type Log,
  listeningSession,
  type Readers,
  trackFillings,
} from '@counterfoil/engine';

/** The reads of a run, and how far the tables are. */
export interface RunReads extends Pick<Readers, 'reader'> {
  readonly factsOf: FactsOf;
  /** The schema that tables of facts are in; null while there is none. */
  readonly schemaOf: (facts: string) => string | null;
  /** Everything up to here is in a read table. */
  readonly shownIn: (table: string) => bigint;
  close(): Promise<void>;
}

export interface RunReadsOptions {
  readonly database: string;
  readonly store: EventStore;
  readonly log: Log;
}

/** Sessions for the reads of a run at most, beside the one that it streams rows from. */
const connections = 4;

/**
 * Opens the reads of one run, and resolves once it is known how far the tables are. They are told of every batch of the
 * projector, which wakes a session of PostgreSQL and this process each time: so each run has its own, and an exporter that has
 * nothing to export is told of none. Rejects with the reason of the signal when that aborts first.
 */
export async function openRunReads(
  { database, store, log }: RunReadsOptions,
  signal: AbortSignal,
): Promise<RunReads> {
  const session = listeningSession(database);
  const readModel = createReadModel({ url: database, log, session, connections });
  const tracker = trackFillings(session, log);
  const close = async (): Promise<void> => {
    await Promise.all([readModel.close(), tracker.close()]);
  };
  try {
    await Promise.all([readModel.begun(signal), tracker.begun(signal)]);
  } catch (error) {
    await close();
    throw error;
  }
  const { pool, prepared, reader, behindAt, projected } = readModel;
  return {
    reader,
    factsOf: factsFrom({ pool, prepared, tracker }, store),
    schemaOf: tracker.schemaOf,
    shownIn: (table) => behindAt(table) ?? projected.position(),
    close,
  };
}
