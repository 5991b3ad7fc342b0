import { type Connection, connect, type Database } from '../database/database.ts';
import type { AnyProjection } from '../define/projection.ts';
import { categoryPrefix } from '../log/stream-name.ts';
import type { EventStore, Position, StoredEvent } from '../log/types.ts';
import { type ProjectionRow, readProjections, readProjector } from '../projection/checkpoint.ts';
import { categoriesOf, categoryOf } from '../projection/fold.ts';
import { assertSameLog } from '../projection/log-identity.ts';
import { inSchema } from '../projection/table-shape.ts';
import type { Difference } from './row-difference.ts';
import { type Compared, countRows, MemoryComparison } from './verify-memory.ts';
import { compareByScratch } from './verify-scratch.ts';

/** A witness, which wants to see the events as well, so that the log is read only once. */
export interface LogWitness {
  /** Streams whose events it wants to see, by prefix, up to the end of the log. */
  readonly prefixes: readonly string[];
  readonly take: (event: StoredEvent) => void;
}

export interface VerifyOptions {
  readonly store: EventStore;
  readonly database: Database;
  readonly tables: readonly AnyProjection[];
  readonly witness?: LogWitness;
  /** Called with each difference as it is found. */
  readonly onDifference?: (difference: Difference) => void;
  /** Differences after which the comparison ends. Default 100. */
  readonly differencesMaximum?: number;
  readonly batchMaximum?: number;
  /** Rows of a table that may be held in memory before they are looked up. */
  readonly heldMaximum?: number;
  /**
   * Called after each batch of so many events; it may wait, so that the comparison does not take
   * the whole machine.
   */
  readonly pace?: (events: number) => Promise<void>;
  readonly signal?: AbortSignal;
}

export interface VerifyReport {
  /** Position of the log up to which the read models were compared. */
  readonly position: Position;
  /** Events that were folded again. */
  readonly events: number;
  /** Rows that were compared. */
  readonly rows: number;
  readonly differences: readonly Difference[];
  /** True when there may be more differences than are listed. */
  readonly truncated: boolean;
  /** Tables that could not be compared, and why. A table that is listed here is not verified. */
  readonly skipped: readonly { readonly table: string; readonly reason: string }[];
  /** Tables that the fold in memory left open, so that they were compared exactly. */
  readonly inDoubt: readonly string[];
}

/**
 * Derives every read table again from the log, with the fold that this program has, and compares
 * the outcome with what readers see, row by row. Everything may keep running meanwhile: it looks at
 * one snapshot of the database and folds the log exactly up to the snapshot's checkpoint.
 *
 * The fold is done in memory, which is fast and proves that a table is right; tables that it leaves
 * open are compared once more by means of temporary ones, which shows the differences. Throws
 * `ForeignLog` when the read models come from another log, and `UnreadableEvent` when it cannot be
 * read to its end.
 */
export async function verifyReadModel(options: VerifyOptions): Promise<VerifyReport> {
  const connection = await connect(options.database, { application: 'counterfoil verify' });
  try {
    await connection.query('begin isolation level repeatable read');
    return await verifySnapshot(connection, options);
  } finally {
    // Ends the transaction and drops the temporary tables.
    await connection.close();
  }
}

async function verifySnapshot(
  connection: Connection,
  options: VerifyOptions,
): Promise<VerifyReport> {
  const { position, mark } = await readProjector(connection);
  await assertSameLog(options.store, mark);
  const { compared, skipped } = await choose(connection, options.tables);
  const comparison = new MemoryComparison(connection, compared, options.heldMaximum);
  const events = await readThrough(comparison, compared, options);
  const open = await comparison.finish();
  const exact = await compareByScratch(connection, open, options);
  const failed = new Set(exact.failed.map(({ table }) => table));
  let rows = 0;
  for (const { table } of compared) {
    if (!failed.has(table.name)) rows += await countRows(connection, { table });
  }
  const { differences, truncated } = exact;
  return {
    position,
    events,
    rows,
    differences,
    truncated,
    skipped: [...skipped, ...exact.failed],
    inDoubt: open.map(({ table }) => table.name),
  };
}

/** The tables that can be compared in this snapshot, and those that cannot. */
export async function choose(connection: Connection, tables: readonly AnyProjection[]) {
  const rows = await readProjections(connection);
  const compared: Compared[] = [];
  const skipped: { table: string; reason: string }[] = [];
  for (const table of tables) {
    const serving = rows.find(({ name, serving }) => serving && name === table.name);
    const reason = reasonToSkip(table, serving);
    if (reason !== null || !serving) skipped.push({ table: table.name, reason: reason ?? '' });
    else compared.push({ table, original: inSchema(serving.relation), upTo: serving.position });
  }
  return { compared, skipped };
}

function reasonToSkip(table: AnyProjection, serving: ProjectionRow | undefined): string | null {
  if (!serving) return 'it is being filled and not shown to readers yet';
  if (serving.version === table.version) return null;
  return `readers see version ${serving.version}; this program knows version ${table.version}`;
}

/** Large, so that a row that changes often is shown and looked up seldom. */
const defaultBatchMaximum = 8_000;

/** Reads the log once, for the comparison and for the witness; returns the events of the tables. */
async function readThrough(
  comparison: MemoryComparison,
  compared: readonly Compared[],
  { store, witness, batchMaximum = defaultBatchMaximum, pace, signal }: VerifyOptions,
): Promise<number> {
  const last = compared.reduce<Position>((top, { upTo }) => (upTo > top ? upTo : top), 0n);
  const categories = categoriesOf(compared.map(({ table }) => table));
  const own = last === 0n ? [] : [...categories].map(categoryPrefix);
  const prefixes = [...new Set([...own, ...(witness?.prefixes ?? [])])];
  if (prefixes.length === 0) return 0;
  const upTo = witness ? await store.head() : last;
  let batch: StoredEvent[] = [];
  let count = 0;
  const isWitnessed = (stream: string): boolean =>
    witness?.prefixes.some((prefix) => stream.startsWith(prefix)) ?? false;
  const read = { prefixes, after: 0n, upTo };
  for await (const event of store.readLog(signal ? { ...read, signal } : read)) {
    if (isWitnessed(event.stream)) witness?.take(event);
    if (event.position > last || !categories.has(categoryOf(event.stream))) continue;
    batch.push(event);
    if (batch.length < batchMaximum) continue;
    count += batch.length;
    await comparison.take(batch);
    await pace?.(batch.length);
    batch = [];
  }
  signal?.throwIfAborted();
  await comparison.take(batch);
  return count + batch.length;
}
