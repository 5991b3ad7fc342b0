import type { Instant } from '@counterfoil/kernel';
import { messageOf, sleep } from '../consume/run-forever.ts';
import { type Connection, connect, transaction } from '../database/database.ts';
import { isLockTimeout } from '../database/database-errors.ts';
import type { AnyFactTables, FactPart, FactParts } from '../define/intake.ts';
import type { EventStore } from '../log/types.ts';
import type { Log } from '../operations/log.ts';
import { readerRole } from '../projection/table-shape.ts';
import { fillBeside } from './fill-beside.ts';
import { fillSession } from './fill-session.ts';
import { type FillingPlace, notePartChange, quotedSchema, refillSchema } from './filling-record.ts';
import {
  notePartProblem,
  type PartRow,
  partsLock,
  readPartWishes,
  retireParts,
} from './part-wishes.ts';
import { oldUpTo } from './retention.ts';

/** The age at which facts are dropped that are kept one by one. */
export interface Retention {
  /** Whole months beside the one that runs. */
  readonly months: number;
  readonly now: () => Instant;
}

/** A filling that readers see, as the process that fills it on has it. */
export interface KeptFilling {
  readonly tables: AnyFactTables;
  readonly place: () => FillingPlace;
  /** Runs work over the session that fills, between two batches: nothing else is written meanwhile. */
  readonly between: <Result>(work: (connection: Connection) => Promise<Result>) => Promise<Result>;
  /** Told in such work, once it is committed, that a part was dropped or filled again. */
  readonly onChanged: () => void;
}

export interface KeepPartsOptions {
  readonly store: Pick<EventStore, 'readLog'>;
  readonly database: string;
  readonly retention: Retention | null;
  readonly log: Log;
  /** A signal that aborts when somebody wishes something from now on. */
  readonly asks: () => AbortSignal;
}

/** The time after which it is looked again at what is old, and whether something is wished. */
const roundMilliseconds = 60_000;
/** The time after which something is tried again that could not be done. */
const againMilliseconds = 1_000;
/** The reason why a wish takes longer, for whoever waits for it. */
const inTheWay =
  'Waits for figures of a meter that are being completed, for readers, or for a verification.';
/** A statement on a whole part has the time that it takes. */
const wholeParts = { timeoutMs: 0 } as const;
/** Readers of a table are not held up for longer by somebody who waits for it alone. */
const lockMilliseconds = 1_000;

/**
 * Does what is wished of the parts of a filling, until the signal aborts: drops them, and fills them again from the log, in tables
 * beside that readers do not see before they are complete. What fails is tried again.
 */
export async function keepParts(
  filling: KeptFilling,
  options: KeepPartsOptions,
  signal: AbortSignal,
): Promise<void> {
  const { parts } = filling.tables;
  if (!parts) return;
  let isTidy = false;
  while (!signal.aborted) {
    const asked = options.asks();
    try {
      const keeper = new PartKeeper(filling, parts, options, signal);
      // A process that was killed may have left something behind.
      if (!isTidy) await keeper.tidy();
      isTidy = true;
      const isDone = await keeper.round();
      if (isDone) await sleep(roundMilliseconds, AbortSignal.any([signal, asked]));
      else await sleep(againMilliseconds, signal);
    } catch (error) {
      if (signal.aborted) return;
      options.log.warn(
        { err: error },
        `parts of the tables of ${filling.tables.name} stay as they are`,
      );
      await sleep(againMilliseconds, signal);
    }
  }
}

class PartKeeper {
  readonly #filling: KeptFilling;
  readonly #parts: FactParts<unknown>;
  readonly #options: KeepPartsOptions;
  readonly #signal: AbortSignal;

  constructor(
    filling: KeptFilling,
    parts: FactParts<unknown>,
    options: KeepPartsOptions,
    signal: AbortSignal,
  ) {
    this.#filling = filling;
    this.#parts = parts;
    this.#options = options;
    this.#signal = signal;
  }

  /** Drops what is left of tables in which parts were filled again. */
  tidy(): Promise<unknown> {
    const drop = `drop schema if exists ${refillSchema(this.#filling.place())} cascade`;
    return this.#filling.between((connection) => connection.query(drop));
  }

  /** Does what is wished now. True when nothing is left of it. */
  async round(): Promise<boolean> {
    const { wanted, old } = await this.#wanted();
    let isDone = true;
    for (const { name } of old) {
      const isDropped = await this.#trying([name], () => this.#drop(name));
      if (!isDropped) await this.#note([name], inTheWay);
      isDone = isDropped && isDone;
    }
    if (wanted.length === 0) return isDone;
    const names = wanted.map(({ name }) => name);
    await this.#trying(names, () => this.#refill(names));
    // What was filled again for something else only is dropped in the next round.
    return isDone && wanted.every(({ isNeeded }) => !isNeeded);
  }

  /** The parts that are to be filled again, and those that are to be dropped. */
  #wanted(): Promise<Record<'wanted' | 'old', readonly FactPart[]>> {
    const { tables, between } = this.#filling;
    const { retention } = this.#options;
    return between(async (connection) => {
      const listed = await this.#parts.list(this.#session(connection));
      if (retention) {
        const limit = oldUpTo(retention.now(), retention.months);
        const names = listed.filter(({ end }) => end <= limit).map(({ name }) => name);
        await retireParts(connection, tables.name, names);
      }
      const wishes = await readPartWishes(connection, tables.name);
      const isKept = ({ name }: FactPart): boolean => wishes.get(name)?.wish !== 'dropped';
      return {
        wanted: listed.filter((part) => part.isDropped && (part.isNeeded || isKept(part))),
        old: listed.filter((part) => !part.isDropped && !isKept(part)),
      };
    });
  }

  /** Does something with parts, and notes for those who wait for it why it fails. */
  async #trying<Result>(names: readonly string[], work: () => Promise<Result>): Promise<Result> {
    try {
      const result = await work();
      await this.#note(names, null);
      return result;
    } catch (error) {
      if (!this.#signal.aborted) await this.#note(names, messageOf(error));
      throw error;
    }
  }

  #note(names: readonly string[], problem: PartRow['problem']): Promise<void> {
    const { between, tables } = this.#filling;
    return between(async (connection) => {
      for (const part of names) await notePartProblem(connection, tables.name, part, problem);
    });
  }

  #drop(name: string): Promise<boolean> {
    return this.#change((connection) => this.#parts.drop(this.#session(connection), name));
  }

  /** Fills parts again from the log, over a session of its own, and then lets readers see them. */
  async #refill(names: readonly string[]): Promise<void> {
    const { database, store } = this.#options;
    const { tables, place } = this.#filling;
    const made = refillSchema(place());
    const drop = `drop schema if exists ${made} cascade`;
    const connection = await connect(database, { application: 'counterfoil refill', copies: true });
    const end = AbortSignal.any([this.#signal, connection.lost]);
    // Whoever ends waits for no long statement.
    end.addEventListener('abort', () => void connection.close());
    try {
      await connection.query('set synchronous_commit = off');
      await connection.query(drop);
      await connection.query(`create schema ${made}`);
      for (const text of tables.create(made, readerRole)) await connection.query(text);
      const filler = this.#parts.refiller(fillSession(connection, made), names);
      const fill = fillBeside({ store, tables }, filler);
      const prepared = place().position;
      await fill(0n, prepared, end);
      const seen = this.#session(connection);
      for (const name of names) await this.#parts.prepare(seen, made, name);
      const beside = { schema: made, preparedUpTo: String(prepared) };
      let upTo = prepared;
      const follow = async (): Promise<void> => {
        const next = place().position;
        await fill(upTo, next, end);
        upTo = next;
      };
      for (;;) {
        await follow();
        const isDone = await this.#change(async (own) => {
          // Nothing moves any more: these are the last events.
          await follow();
          return await this.#takeIn(own, beside, names);
        });
        if (isDone) return;
        await this.#note(names, inTheWay);
        await sleep(againMilliseconds, end);
        end.throwIfAborted();
      }
    } finally {
      await connection.query(drop).catch(() => undefined);
      await connection.close();
    }
  }

  async #takeIn(
    connection: Connection,
    made: { readonly schema: string; readonly preparedUpTo: string },
    names: readonly string[],
  ): Promise<boolean> {
    const session = this.#session(connection);
    for (const name of names) {
      if (!(await this.#parts.refill(session, made, name))) return false;
    }
    return true;
  }

  /**
   * Changes parts in one transaction over the session that fills. False, and nothing is changed, while there is something to do
   * first, the parts are compared, or readers hold a table.
   */
  #change(work: (connection: Connection) => Promise<boolean>): Promise<boolean> {
    const { between, place, onChanged, tables } = this.#filling;
    return between(async (connection) => {
      let isDone = false;
      await transaction(connection, async () => {
        await connection.query(`set local lock_timeout = ${lockMilliseconds}`);
        isDone = (await isFree(connection, tables.name)) && (await work(connection));
        if (!isDone) throw new NotYet();
        await notePartChange(connection, place());
      }).catch((error: unknown) => {
        isDone = false;
        if (!(error instanceof NotYet || isLockTimeout(error))) throw error;
      });
      if (isDone) onChanged();
      return isDone;
    });
  }

  #session(connection: Connection) {
    return fillSession(connection, quotedSchema(this.#filling.place()), wholeParts);
  }
}

/** Takes parts for the transaction that changes them; false while they are being compared. */
async function isFree(connection: Connection, name: string): Promise<boolean> {
  const text = 'select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as free';
  const { rows } = await connection.query<{ readonly free: boolean }>(text, [partsLock(name)]);
  return rows[0]?.free === true;
}

/** Rolls a transaction back in which something has to be done first. */
class NotYet extends Error {}
