import type { Connection } from '../database/database.ts';
import { categoryPrefix } from '../log/stream-name.ts';
import type { EventStore, Position, StoredEvent } from '../log/types.ts';
import { applyInside } from '../projection/apply-batch.ts';
import { categoriesOf, categoryOf } from '../projection/fold.ts';
import { columnNames } from '../projection/row.ts';
import { RowCache } from '../projection/row-cache.ts';
import type { Target } from '../projection/row-store.ts';
import { createScratch, inSchema, quoted, scopeColumn } from '../projection/table-shape.ts';
import { type Difference, type RowText, rowDifference } from './row-difference.ts';
import type { Compared } from './verify-memory.ts';

/** A table under comparison: the scratch copy is filled up to the position of the real one. */
export interface Examined extends Target {
  /** The table that the view of this name should point at. */
  readonly original: string;
  upTo: Position;
  /** The log up to here is in the copy. */
  reached: Position;
  failure: string | null;
}

export interface ScratchOptions {
  readonly store: EventStore;
  /** Called with each difference as it is found. */
  readonly onDifference?: (difference: Difference) => void;
  /** Differences after which the comparison ends. Default 100. */
  readonly differencesMaximum?: number;
  readonly batchMaximum?: number;
  readonly signal?: AbortSignal;
}

/** The result of a comparison. */
export interface ScratchReport {
  readonly differences: readonly Difference[];
  /** True when there may be more differences than are listed. */
  readonly truncated: boolean;
  /** Tables that the log could not be folded into, and why. */
  readonly failed: readonly { readonly table: string; readonly reason: string }[];
}

/**
 * Fills temporary tables from the log and lets Postgres match them with what readers see. However
 * large they are, it names the rows and fields that differ, in the order of their keys; Postgres
 * removes the copy, whatever happens to this process. Runs inside a transaction of the caller.
 */
export async function compareByScratch(
  connection: Connection,
  tables: readonly Compared[],
  options: ScratchOptions,
): Promise<ScratchReport> {
  const examined = await createExamined(connection, tables);
  await deriveAll(connection, examined, options);
  return compareAll(connection, examined, options);
}

/** Makes the scratch tables. They are empty, and end with the session. */
export async function createExamined(
  connection: Connection,
  tables: readonly Compared[],
): Promise<readonly Examined[]> {
  const examined: Examined[] = [];
  for (const [index, compared] of tables.entries()) {
    await connection.query(createScratch(compared.table, `verify_${index}`));
    const relation = quoted(`verify_${index}`);
    examined.push({ ...compared, relation, reached: 0n, failure: null });
  }
  return examined;
}

/** The part of the log that some of the tables have not reached; null when all are where they should be. */
function missingPart(examined: readonly Examined[]) {
  const open = examined.filter(({ failure, reached, upTo }) => failure === null && reached < upTo);
  if (open.length === 0) return null;
  const after = open.reduce(
    (least, { reached }) => (reached < least ? reached : least),
    open[0]?.reached ?? 0n,
  );
  const upTo = open.reduce<Position>((last, table) => (table.upTo > last ? table.upTo : last), 0n);
  const categories = categoriesOf(open.map(({ table }) => table));
  return { prefixes: [...categories].map(categoryPrefix), after, upTo };
}

/**
 * Folds the log into the scratch tables, each from where it is up to where it should be; returns the number
 * of events. Runs inside a transaction of the caller, unless `around` brings one for each batch.
 */
export async function deriveAll(
  connection: Connection,
  examined: readonly Examined[],
  options: Pick<ScratchOptions, 'store' | 'batchMaximum' | 'signal'> & {
    readonly around?: (apply: () => Promise<void>, events: number) => Promise<void>;
  },
): Promise<number> {
  const { store, batchMaximum = 1_000, signal, around = (apply) => apply() } = options;
  const part = missingPart(examined);
  if (!part) return 0;
  const context = { connection, cache: new RowCache() };
  let batch: StoredEvent[] = [];
  let count = 0;
  const apply = async () => {
    for (const table of examined.filter(({ failure }) => failure === null)) {
      const categories = categoriesOf([table.table]);
      const own = batch.filter(
        ({ position, stream }) =>
          position > table.reached && position <= table.upTo && categories.has(categoryOf(stream)),
      );
      if (own.length === 0) continue;
      const poison = await applyInside(context, table, own);
      if (poison) table.failure = describePoison(poison);
    }
  };
  const flush = async () => {
    count += batch.length;
    await around(apply, batch.length);
    batch = [];
  };
  for await (const event of store.readLog(signal ? { ...part, signal } : part)) {
    batch.push(event);
    if (batch.length >= batchMaximum) await flush();
  }
  signal?.throwIfAborted();
  if (batch.length > 0) await flush();
  for (const table of examined) table.reached = table.upTo;
  return count;
}

const describePoison = ({ event, error }: { event: StoredEvent; error: unknown }): string =>
  `event ${event.stream}@${event.revision} cannot be folded: ` +
  (error instanceof Error ? error.message : String(error));

/** Matches the scratch tables with what readers see. Runs inside a transaction of the caller. */
export async function compareAll(
  connection: Connection,
  examined: readonly Examined[],
  { differencesMaximum = 100, onDifference }: Omit<ScratchOptions, 'store'>,
): Promise<ScratchReport> {
  const differences: Difference[] = [];
  const failed = examined.flatMap(({ table, failure }) =>
    failure === null ? [] : [{ table: table.name, reason: failure }],
  );
  for (const target of examined.filter(({ failure }) => failure === null)) {
    for await (const difference of differencesOf(connection, target)) {
      if (differences.length >= differencesMaximum) return { differences, failed, truncated: true };
      differences.push(difference);
      onDifference?.(difference);
    }
  }
  return { differences, failed, truncated: false };
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
