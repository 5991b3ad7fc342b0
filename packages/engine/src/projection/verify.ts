import type { AnyReadTable } from '../define/read-table.ts';
import { categoryPrefix } from '../log/stream-name.ts';
import type { EventStore, Position, StoredEvent } from '../log/types.ts';
import { applyInside } from './apply-batch.ts';
import { type ProjectionRow, readProjections, readProjector } from './checkpoint.ts';
import { type Connection, connect, type Database } from './database.ts';
import { categoryOf } from './fold.ts';
import { assertSameLog } from './log-identity.ts';
import { columnNames } from './row.ts';
import { RowCache } from './row-cache.ts';
import { type Difference, type RowText, rowDifference } from './row-difference.ts';
import type { Target } from './row-store.ts';
import { createScratch, inSchema, quoted, scopeColumn } from './table-shape.ts';

interface VerifyOptions {
  readonly store: EventStore;
  readonly database: Database;
  readonly tables: readonly AnyReadTable[];
  /** Called with each difference as it is found. */
  readonly onDifference?: (difference: Difference) => void;
  /** Differences after which the comparison ends. Default 100. */
  readonly differencesMaximum?: number;
  readonly batchMaximum?: number;
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
  /** Whether there may be more differences than are listed. */
  readonly truncated: boolean;
  /** Tables that could not be compared, and why. A table that is listed here is not verified. */
  readonly skipped: readonly { readonly table: string; readonly reason: string }[];
}

/** A table under verification: the scratch copy is filled up to the position of the real one. */
interface Examined extends Target {
  /** The table that the view of this name should point at. */
  readonly original: string;
  readonly upTo: Position;
  failure: string | null;
}

/**
 * Derives every read table anew from the log, with the fold that this program has, and compares
 * the outcome with what readers see, row by row. Everything may go on meanwhile: it looks
 * at one snapshot of the database and folds the log exactly up to the snapshot's checkpoint.
 * The copy consists of temporary tables, which Postgres removes whatever happens to us.
 * Throws `ForeignLog` when the read models come from another log.
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
  const rows = await readProjections(connection);
  await assertSameLog(options.store, mark);
  const skipped: { table: string; reason: string }[] = [];
  const examined: Examined[] = [];
  for (const table of options.tables) {
    const serving = rows.find(({ name, serving }) => serving && name === table.name);
    const reason = reasonToSkip(table, serving);
    if (reason !== null || !serving) {
      skipped.push({ table: table.name, reason: reason ?? '' });
      continue;
    }
    const relation = quoted(`verify_${examined.length}`);
    await connection.query(createScratch(table, `verify_${examined.length}`));
    const original = inSchema(serving.relation);
    examined.push({ table, relation, original, upTo: serving.position, failure: null });
  }
  const events = await deriveAll(connection, examined, options);
  const comparison = await compareAll(connection, examined, options);
  for (const { table, failure } of examined) {
    if (failure !== null) skipped.push({ table: table.name, reason: failure });
  }
  return { position, events, ...comparison, skipped };
}

function reasonToSkip(table: AnyReadTable, serving: ProjectionRow | undefined): string | null {
  if (!serving) return 'it is being filled and not shown to readers yet';
  if (serving.version === table.version) return null;
  return `readers see version ${serving.version}; this program knows version ${table.version}`;
}

/** Folds the log into the scratch tables; gives the number of events. */
async function deriveAll(
  connection: Connection,
  examined: readonly Examined[],
  { store, batchMaximum = 1_000, signal }: VerifyOptions,
): Promise<number> {
  const upTo = examined.reduce<Position>(
    (last, table) => (table.upTo > last ? table.upTo : last),
    0n,
  );
  const categories = new Set(examined.map(({ table }) => table.aggregate.name));
  if (upTo === 0n || categories.size === 0) return 0;
  const context = { connection, cache: new RowCache() };
  let batch: StoredEvent[] = [];
  let count = 0;
  const flush = async () => {
    for (const table of examined.filter(({ failure }) => failure === null)) {
      const { name } = table.table.aggregate;
      const own = batch.filter(
        (event) => event.position <= table.upTo && categoryOf(event.stream) === name,
      );
      if (own.length === 0) continue;
      const poison = await applyInside(context, table, own);
      if (poison) table.failure = describePoison(poison);
    }
    batch = [];
  };
  const prefixes = [...categories].map(categoryPrefix);
  const read = { prefixes, after: 0n, upTo };
  for await (const event of store.readLog(signal ? { ...read, signal } : read)) {
    batch.push(event);
    count += 1;
    if (batch.length >= batchMaximum) await flush();
  }
  signal?.throwIfAborted();
  if (batch.length > 0) await flush();
  return count;
}

const describePoison = ({ event, error }: { event: StoredEvent; error: unknown }): string =>
  `event ${event.stream}@${event.revision} cannot be folded: ` +
  (error instanceof Error ? error.message : String(error));

async function compareAll(
  connection: Connection,
  examined: readonly Examined[],
  { differencesMaximum = 100, onDifference }: VerifyOptions,
): Promise<Pick<VerifyReport, 'rows' | 'differences' | 'truncated'>> {
  const differences: Difference[] = [];
  let rows = 0;
  for (const target of examined.filter(({ failure }) => failure === null)) {
    rows += await countRows(connection, target);
    for await (const difference of differencesOf(connection, target)) {
      if (differences.length >= differencesMaximum) return { rows, differences, truncated: true };
      differences.push(difference);
      onDifference?.(difference);
    }
  }
  return { rows, differences, truncated: false };
}

async function countRows(connection: Connection, { table }: Target): Promise<number> {
  const { rows } = await connection.query<{ count: string }>(
    `select count(*) from ${inSchema(table.name)}`,
  );
  return Number(rows[0]?.count);
}

interface ComparedRow {
  readonly scope: string;
  readonly id: string;
  readonly expected: RowText | null;
  readonly actual: RowText | null;
}

const fetchSize = 100;

/** Goes through the rows that differ in their text, in the order of their keys. */
async function* differencesOf(
  connection: Connection,
  target: Examined,
): AsyncGenerator<Difference, void, undefined> {
  await connection.query(`declare differing no scroll cursor for ${differingRows(target)}`, [], {
    timeoutMs: 0,
  });
  try {
    for (;;) {
      const { rows } = await connection.query<ComparedRow>(
        `fetch ${fetchSize} from differing`,
        [],
        {
          timeoutMs: 0,
        },
      );
      if (rows.length === 0) return;
      for (const row of rows) {
        const difference = rowDifference(target.table, row);
        if (difference) yield difference;
      }
    }
  } finally {
    await connection.query('close differing');
  }
}

/**
 * Matches the derived rows with those that readers see, through the view, as they do: a view that
 * points elsewhere is found as well. The state is not in the view and comes from the table.
 */
function differingRows({ table, relation, original }: Examined): string {
  const scope = scopeColumn(table);
  const text = (alias: string, stateAlias: string): string =>
    `array[${columnNames(table)
      .map((name) => `${name === 'state' ? stateAlias : alias}.${quoted(name)}::text`)
      .join(', ')}]`;
  const expected = text('derived', 'derived');
  const actual = text('shown', 'stored');
  return `
    select coalesce(derived.${scope}, shown.${scope}) as scope,
           coalesce(derived.id, shown.id) as id,
           case when derived.id is not null then ${expected} end as expected,
           case when shown.id is not null then ${actual} end as actual
      from ${relation} as derived
      full outer join (${inSchema(table.name)} as shown left join ${original} as stored
                       on stored.${scope} = shown.${scope} and stored.id = shown.id)
        on derived.${scope} = shown.${scope} and derived.id = shown.id
     where derived.id is null or shown.id is null or ${expected} is distinct from ${actual}
     order by 1, 2`;
}
