import { batchwise } from '../consume/batchwise.ts';
import { messageOf } from '../consume/run-forever.ts';
import { type Connection, connect } from '../database/database.ts';
import { statementsOn } from '../database/statements.ts';
import type { AnyProjection } from '../define/projection.ts';
import { categoryPrefix } from '../log/stream-name.ts';
import type { EventStore, Position, StoredEvent } from '../log/types.ts';
import { applyInside } from '../projection/apply-batch.ts';
import { type ProjectionRow, readProjections, readProjector } from '../projection/checkpoint.ts';
import { categoriesOf, categoryOf } from '../projection/fold.ts';
import { BatchWriter } from '../projection/fold-ahead.ts';
import { assertSameLog } from '../projection/log-identity.ts';
import { RowCache } from '../projection/row-store.ts';
import type { BatchContext } from '../projection/table-change.ts';
import { inSchema } from '../projection/table-shape.ts';
import type { Difference } from './row-difference.ts';
import { type Compared, type Copied, createCopies, differencesOf } from './table-copy.ts';

/** Somebody who wants to see the events as well, so that the log is read only once. */
export interface LogWitness {
  /** Streams whose events it wants to see, by prefix, up to the end of the log. */
  readonly prefixes: readonly string[];
  readonly take: (event: StoredEvent) => void;
}

export interface VerifyOptions {
  readonly store: EventStore;
  readonly database: string;
  readonly tables: readonly AnyProjection[];
  readonly witness?: LogWitness;
  /** Called with each difference as it is found. */
  readonly onDifference?: (difference: Difference) => void;
  /** Events that are folded in one transaction. */
  readonly batchMaximum?: number;
  /** Asked after each batch of so many events, to hold up what must not take all of the machine. */
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
  readonly skipped: readonly Skipped[];
}

interface Skipped {
  readonly table: string;
  readonly reason: string;
}

/**
 * Derives every read table again from the log, with the fold that this program has, and compares
 * the outcome with what readers see, row by row; it names the rows and fields that differ, in the
 * order of their keys. Everything may keep running meanwhile, for as long as it takes: the log is folded
 * into temporary tables, in short transactions. Only the last events, and the comparison itself, are
 * in one snapshot of the database, because as long as there is one Postgres cannot clean up in any
 * table. The copies take as much room as the read models.
 *
 * Throws `ForeignLog` when the read models come from another log, and `UnreadableEvent` when it
 * cannot be read to its end.
 */
export async function verifyReadModel(options: VerifyOptions): Promise<VerifyReport> {
  const connection = await connect(options.database, { application: 'counterfoil verify' });
  try {
    return await new Comparison(connection, options).run();
  } finally {
    // Ends the transaction and drops the temporary tables.
    await connection.close();
  }
}

/** A slice of fewer events is the last that is folded before the snapshot. */
const shortSlice = 2_000;
/** However fast the log grows, the copies are level enough after so many slices. */
const slicesMaximum = 8;
const batchDefault = 4_000;
/** Differences after which the comparison ends. */
const differencesMaximum = 100;

/** Folds batches of events of the log into copies. No events: everything is in the copies then. */
type Apply = (events: readonly StoredEvent[]) => Promise<void>;

class Comparison {
  readonly #connection: Connection;
  readonly #options: VerifyOptions;
  readonly #context: BatchContext;
  #copies: readonly Copied[] = [];
  #events = 0;
  /** The witness has seen the log up to here. */
  #witnessed: Position = 0n;

  constructor(connection: Connection, options: VerifyOptions) {
    this.#connection = connection;
    this.#options = options;
    this.#context = { connection, cache: new RowCache() };
  }

  async run(): Promise<VerifyReport> {
    const connection = this.#connection;
    await assertSameLog(this.#options.store, (await readProjector(connection)).mark);
    const { compared } = await chosen(connection, this.#options.tables);
    this.#copies = await createCopies(connection, compared);
    for (let slice = 0; slice < slicesMaximum; slice += 1) {
      if ((await this.#foldSlice(this.#foldingInSlices)) < shortSlice) break;
      await this.#moveOn();
    }
    await connection.query('begin isolation level repeatable read');
    const report = await this.#compareSnapshot();
    await connection.query('commit');
    await this.#showRest();
    return report;
  }

  /** Finds out where the tables are now. One that readers see no more cannot be compared any more. */
  async #moveOn(): Promise<readonly Skipped[]> {
    const { compared, skipped } = await chosen(this.#connection, this.#options.tables);
    for (const copied of this.#copies) {
      const now = compared.find(({ original }) => original === copied.original);
      if (now) copied.upTo = now.upTo;
      else copied.failure ??= 'readers have got another version of it meanwhile';
    }
    const known = new Set(this.#copies.map(({ original }) => original));
    const late = compared.filter(({ original }) => !known.has(original));
    const reason = 'readers have got it only now';
    return [...skipped, ...late.map(({ table }) => ({ table: table.name, reason }))];
  }

  /** Brings the copies to where their tables are. Returns the number of events that this took. */
  async #foldSlice(folding: (group: readonly Copied[]) => Apply): Promise<number> {
    const before = this.#events;
    const behind = this.#copies.filter(
      ({ failure, reached, upTo }) => failure === null && reached < upTo,
    );
    const groups = Map.groupBy(behind, ({ reached, upTo }) => `${reached} ${upTo}`);
    for (const group of groups.values()) await this.#foldGroup(group, folding(group));
    return this.#events - before;
  }

  async #foldGroup(group: readonly Copied[], apply: Apply): Promise<void> {
    const { store, witness, batchMaximum = batchDefault, signal } = this.#options;
    const { reached: after = 0n, upTo = 0n } = group[0] ?? {};
    const categories = categoriesOf(group.map(({ table }) => table));
    const own = [...categories].map(categoryPrefix);
    const isWitnessed = witness !== undefined && upTo > this.#witnessed;
    const prefixes = isWitnessed ? [...new Set([...own, ...witness.prefixes])] : own;
    const events = store.readLog({ prefixes, after, upTo, ...(signal && { signal }) });
    await batchwise(this.#own(events, categories, isWitnessed), batchMaximum, async (batch) => {
      this.#events += batch.length;
      await apply(batch);
    });
    await apply([]);
    signal?.throwIfAborted();
    for (const copied of group) copied.reached = upTo;
    if (isWitnessed) this.#witnessed = upTo;
  }

  /** The events that the tables fold; the witness is shown all of them. */
  async *#own(
    events: AsyncIterable<StoredEvent>,
    categories: ReadonlySet<string>,
    isWitnessed: boolean,
  ): AsyncGenerator<StoredEvent> {
    for await (const event of events) {
      if (isWitnessed) this.#show(event);
      if (categories.has(categoryOf(event.stream))) yield event;
    }
  }

  #show(event: StoredEvent): void {
    const { witness } = this.#options;
    if (event.position <= this.#witnessed) return;
    if (witness?.prefixes.some((prefix) => event.stream.startsWith(prefix))) witness.take(event);
  }

  /** In transactions of their own, so that nothing is held up for long. */
  readonly #foldingInSlices = (group: readonly Copied[]): Apply => {
    const writer = new BatchWriter<Copied>({
      context: this.#context,
      targets: () => group.filter(isGoing),
      finish: async () => undefined,
      written({ stopped }) {
        for (const { target, reason } of stopped) {
          target.failure = unfoldable(reason, reason.message);
        }
      },
    });
    return async (events) => {
      await writer.take(events);
      if (events.length > 0) await this.#options.pace?.(events.length);
    };
  };

  /** In the transaction of the snapshot. */
  readonly #foldingInSnapshot = (group: readonly Copied[]): Apply => {
    return async (events) => {
      for (const copied of group.filter(isGoing)) {
        const poison = await applyInside(this.#context, copied, events);
        if (poison) copied.failure = unfoldable(poison.event, messageOf(poison.error));
      }
    };
  };

  async #compareSnapshot(): Promise<VerifyReport> {
    const { store, onDifference } = this.#options;
    const { position, mark } = await readProjector(this.#connection);
    await assertSameLog(store, mark);
    const unseen = await this.#moveOn();
    await this.#foldSlice(this.#foldingInSnapshot);
    const names = new Set(unseen.map(({ table }) => table));
    const skipped = [...unseen];
    const differences: Difference[] = [];
    let rows = 0;
    let truncated = false;
    for (const copied of this.#copies) {
      const table = copied.table.name;
      if (copied.failure !== null) {
        if (!names.has(table)) skipped.push({ table, reason: copied.failure });
        continue;
      }
      rows += await countRows(this.#connection, table);
      if (truncated) continue;
      for await (const difference of differencesOf(this.#connection, copied)) {
        truncated = differences.length >= differencesMaximum;
        if (truncated) break;
        differences.push(difference);
        onDifference?.(difference);
      }
    }
    return { position, events: this.#events, rows, differences, truncated, skipped };
  }

  /** Shows the witness what no table has taken yet. */
  async #showRest(): Promise<void> {
    const { store, witness, signal } = this.#options;
    if (!witness) return;
    const { prefixes } = witness;
    const rest = { prefixes, after: this.#witnessed, upTo: await store.head() };
    for await (const event of store.readLog({ ...rest, ...(signal && { signal }) })) {
      this.#show(event);
    }
  }
}

/** True for a copy that has taken everything so far. */
const isGoing = ({ failure }: Copied): boolean => failure === null;

const unfoldable = (
  { stream, revision }: Pick<StoredEvent, 'stream' | 'revision'>,
  message: string,
): string => `event ${stream}@${revision} cannot be folded: ${message}`;

/** The number of rows that readers see. */
async function countRows(connection: Connection, table: string): Promise<number> {
  const { rows } = await connection.run(
    statementsOn<Record<string, object>>()
      .selectFrom(table)
      .select(({ fn }) => fn.countAll<string>().as('count')),
  );
  return Number(rows[0]?.count);
}

/** The tables that can be compared now, and those that cannot. */
async function chosen(connection: Connection, tables: readonly AnyProjection[]) {
  const rows = await readProjections(connection);
  const compared: Compared[] = [];
  const skipped: Skipped[] = [];
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
