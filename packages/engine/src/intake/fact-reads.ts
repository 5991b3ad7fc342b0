import { Problem } from '@counterfoil/kernel';
import type { QueryCreator } from 'kysely';
import { LRUCache } from 'lru-cache';
import { schemaName } from '../database/database.ts';
import { anyStatement } from '../database/statements.ts';
import { readFailure } from '../decide/problems.ts';
import type { Place } from '../define/context.ts';
import type {
  AnyFactTables,
  FactProgress,
  FactReads,
  FactSelect,
  FactStatement,
  FactTables,
  GivenValues,
} from '../define/intake.ts';
import { beyondLog } from '../log/position.ts';
import type { EventStore, Position } from '../log/types.ts';
import type { ScopedPool } from '../query/scoped-pool.ts';
import { BlankStretches } from './blank-stretches.ts';
import { fillPrefixes } from './fill-batch.ts';
import { type FillingKey, fillingSchema } from './filling-record.ts';
import type { FillingTracker } from './filling-tracker.ts';
import { statementWith } from './given-places.ts';

/** The time that a read waits for the tables to show what its caller has already sent. */
const implicitWaitMilliseconds = 1_000;
const explicitWaitMilliseconds = 2_000;
/** The wait after which the log itself is asked: places among the events of others come late. */
const placeWaitMilliseconds = 200;
/** Keys whose last facts are remembered. */
const keysMaximum = 100_000;

/** The positions of the last facts of every API key in this process, so that a key reads what it has sent. */
export class RecentFacts {
  readonly #byKey = new LRUCache<string, Position>({ max: keysMaximum });

  note(keyId: string, position: Position): void {
    const known = this.#byKey.get(keyId);
    if (known === undefined || position > known) this.#byKey.set(keyId, position);
  }

  lastOf(keyId: string): Position | null {
    return this.#byKey.get(keyId) ?? null;
  }
}

/** The tables of facts as requests read them. */
export interface FactReadSide {
  readonly pool: Pick<ScopedPool, 'query'>;
  /** For statements that are kept prepared. */
  readonly prepared: Pick<ScopedPool, 'query'>;
  readonly tracker: Pick<FillingTracker, 'reached' | 'schemaOf'>;
  readonly recent: RecentFacts;
  readonly stretches: Pick<BlankStretches, 'isBlank'>;
}

export interface FactReadsOptions {
  readonly side: FactReadSide;
  readonly store: Pick<EventStore, 'head' | 'readLog'>;
  readonly caller: Place & { readonly keyId: string };
  readonly minimumPosition: Position | null;
  /** The position of the last write of the caller, of whatever kind: a reader looks whether an answer shows as much. */
  readonly written?: Position | null;
  /** Told the position up to which the facts are that are read next. */
  readonly onRead: (position: Position) => void;
}

/**
 * The reads of facts of one request. They wait, for a bounded time, until the tables show what the caller has
 * sent before, and the position that it insists on: 503 where that is not reached, 400 where the log ends
 * before it.
 */
export function factReads(options: FactReadsOptions): FactReads {
  const { side, caller, written = null } = options;
  /** The place up to which tables show all, where they have come to a position and the caller has written records alone since. */
  const withWrites = async (tables: AnyFactTables, position: Position): Promise<Position> => {
    if (written === null || position >= written) return position;
    const isShown = await side.stretches.isBlank(tables, { after: position, upTo: written });
    return isShown ? written : position;
  };
  const schemaOf = ({ name }: AnyFactTables): string => {
    const schema = side.tracker.schemaOf(name);
    if (schema === null) throw notReady();
    return schema;
  };
  const read = async <Tables extends object, Row>(
    tables: FactTables<Tables>,
    select: FactSelect<Tables, Row>,
  ): Promise<readonly Row[]> => {
    const builder = anyStatement.withSchema(schemaOf(tables)) as unknown as QueryCreator<Tables>;
    const { sql: text, parameters } = select(builder).compile();
    return (await side.pool.query<Row>(caller, { text, values: [...parameters] })).rows;
  };
  const shown = async (tables: AnyFactTables): Promise<Position> => {
    const known = await untilShown(options, tables);
    // Noted before the read, which shows at least as much.
    const reached = side.tracker.reached(tables.name).position();
    const position = await withWrites(tables, known > reached ? known : reached);
    options.onRead(position);
    return position;
  };
  return {
    shown: async (tables) => String(await shown(tables)),
    changedAt: (tables) => changedAt(options, tables, schemaOf(tables)),
    progress: (tables) => progressOf(options, tables),
    queryAtOnce: read,
    filling: schemaOf,
    query: async (tables, select) => {
      await shown(tables);
      return read(tables, select);
    },
    ask: async <Tables extends object, Given extends GivenValues, Row>(
      statement: FactStatement<Tables, Given, Row>,
      given: Given,
      planned: 'once' | 'for these values' = 'once',
    ) => {
      await shown(statement.tables);
      const { name, ...sent } = statementWith(statement, schemaOf(statement.tables), given);
      if (planned === 'once')
        return (await side.prepared.query<Row>(caller, { name, ...sent })).rows;
      return (await side.pool.query<Row>(caller, sent)).rows;
    },
  };
}

/** Gives the reads of facts of a place, which show at least everything up to a position. */
export type FactsOf = (place: Place, upTo: Position | null) => FactReads;

/** The reads of facts of the service itself, in whatever place. */
export function factsFrom(
  side: Pick<FactReadSide, 'pool' | 'prepared' | 'tracker'>,
  store: FactReadsOptions['store'],
): FactsOf {
  const stretches = new BlankStretches(store);
  return (place, minimumPosition) =>
    factReads({
      side: { ...side, stretches, recent: nobodyHasSent },
      store,
      caller: { ...place, keyId: '' },
      minimumPosition,
      onRead: () => undefined,
    });
}

const nobodyHasSent = new RecentFacts();

/** The position of the last change of what the rows of some tables count as: both are written in one transaction. */
async function changedAt(
  { side, caller }: FactReadsOptions,
  { name }: AnyFactTables,
  schema: string,
): Promise<string> {
  const { rows } = await side.prepared.query<ChangeRow>(caller, {
    name: 'change_of_facts',
    text: `select name, version, generation, counted_position as position from ${schemaName}.filling where name = $1 and serving`,
    values: [name],
  });
  const [row] = rows;
  if (!row || fillingSchema(row) !== schema) throw notReady();
  return String(row.position);
}

interface ChangeRow extends FillingKey {
  readonly position: string | bigint | number;
}

/** The distance of some tables from the end of the log. */
async function progressOf(
  { side, store }: FactReadsOptions,
  tables: AnyFactTables,
): Promise<FactProgress> {
  // Asked before the log: what comes in between is missing then, and nothing that is missing is taken for shown.
  const reached = side.tracker.reached(tables.name).position();
  try {
    const head = await store.head();
    const missing = await countMissing(store, tables, { after: reached, upTo: head });
    // A place between two events may lie beyond the last one.
    const shown = missing === 0 ? head : reached;
    return { head: String(head), shown: String(shown), missing };
  } catch (error) {
    throw readFailure(error);
  }
}

/** Events that are counted: as many as one batch of a filling has. */
const missingMaximum = 16;

/** Counts the events in a stretch of the log that are for some tables. */
async function countMissing(
  store: Pick<EventStore, 'readLog'>,
  tables: AnyFactTables,
  stretch: { readonly after: Position; readonly upTo: Position },
): Promise<number> {
  let missing = 0;
  if (stretch.after >= stretch.upTo) return missing;
  for await (const _ of store.readLog({ prefixes: fillPrefixes(tables), ...stretch })) {
    missing += 1;
    if (missing === missingMaximum) break;
  }
  return missing;
}

/** Waits, and gives a position up to which the tables show everything; zero where nobody insists on one. */
async function untilShown(
  { side, caller, minimumPosition, store }: FactReadsOptions,
  tables: AnyFactTables,
): Promise<Position> {
  const { name } = tables;
  const reached = side.tracker.reached(name);
  const own = side.recent.lastOf(caller.keyId);
  if (own !== null) await reached.waitFor(own, implicitWaitMilliseconds);
  if (minimumPosition === null) return 0n;
  if (await reached.waitFor(minimumPosition, placeWaitMilliseconds)) return minimumPosition;
  const newest = await store.head().catch(() => null);
  const isThere = newest !== null && newest >= minimumPosition;
  const stretch = { after: reached.position(), upTo: minimumPosition };
  if (isThere && (await side.stretches.isBlank(tables, stretch))) return minimumPosition;
  if (await reached.waitFor(minimumPosition, explicitWaitMilliseconds)) return minimumPosition;
  if (newest !== null && minimumPosition > newest) throw beyondLog(minimumPosition, newest);
  throw new Problem(
    'service_unavailable',
    `The tables of ${name} have not reached position ${minimumPosition} yet. Retry shortly.`,
    { retryAfterSeconds: 1, details: { minimum_position: String(minimumPosition) } },
  );
}

const notReady = (): Problem =>
  new Problem('service_unavailable', 'The tables of facts are not ready yet. Retry shortly.', {
    retryAfterSeconds: 2,
  });
