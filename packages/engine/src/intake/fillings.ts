import { gathered } from '../consume/gathering.ts';
import { hearChannel } from '../consume/hear-channel.ts';
import { messageOf, runForever, sleep } from '../consume/run-forever.ts';
import { type Connection, connect, transaction } from '../database/database.ts';
import { type ListeningSession, listeningSession } from '../database/listening-session.ts';
import { Mutex } from '../database/mutex.ts';
import type { AnyFactTables, Filler } from '../define/intake.ts';
import { eventsOf, isCaughtUp, positionAfter } from '../log/follow.ts';
import type { EventStore, LogItem } from '../log/types.ts';
import type { Log } from '../operations/log.ts';
import type { Metrics } from '../operations/metrics.ts';
import { markOf } from '../projection/checkpoint.ts';
import { assertSameLog } from '../projection/log-identity.ts';
import { readerRole } from '../projection/table-shape.ts';
import { between } from './between.ts';
import { bearsOn, fillDecoder, fillPrefixes, isAside, passedBy } from './fill-batch.ts';
import { fillSession } from './fill-session.ts';
import {
  addFilling,
  dropFilling,
  type FillingKey,
  type FillingPlace,
  type FillingRow,
  fillingsChannel,
  moveFilling,
  quotedSchema,
  readFillings,
  retire,
  serve,
} from './filling-record.ts';
import { type KeptFilling, keepParts, type Retention } from './keep-parts.ts';
import { portionsOf, weigherOf, writtenTogether } from './portions.ts';
import { withSeldomPlaces } from './seldom-places.ts';

export interface FillingsOptions {
  readonly store: EventStore;
  readonly database: string;
  /** The session in which the process listens; one of its own unless given. */
  readonly session?: ListeningSession;
  readonly tables: readonly AnyFactTables[];
  /** The age at which facts are dropped one by one; without it, when somebody wishes it. */
  readonly retention?: Retention;
  readonly log: Log;
  readonly metrics?: Metrics;
}

/** The tables of facts, as they are kept up to date in this process. */
export interface Fillings {
  /** Throws, with a sentence for operators, unless all tables follow the log, here or elsewhere. */
  check(): Promise<void>;
  /** Finishes the batches under way. */
  stop(): Promise<void>;
}

/** Events of the log that are there at once: each may hold thousands of facts. */
const eventsMaximum = 128;
const standbyMilliseconds = 500;
/** Readers know within this time that they have to look at other tables. */
const graceMilliseconds = 60_000;

type State =
  | { readonly kind: 'starting' }
  | { readonly kind: 'standby' }
  | { readonly kind: 'running' }
  | { readonly kind: 'failed'; readonly message: string };

/**
 * Starts to fill the tables of intakes from the log, and runs until it is stopped, over losses of PostgreSQL and of
 * the event store. Of all processes on one database one fills; the others stand by.
 */
export function startFillings(options: FillingsOptions): Fillings {
  const stopping = new AbortController();
  const { signal } = stopping;
  const states = new Map<string, State>();
  const filled = options.metrics?.counter({
    name: 'counterfoil_facts_filled_total',
    help: 'Facts that were written to the tables of their intake',
    labels: ['intake'],
  });
  const running = options.tables.map((tables) => {
    const { name } = tables;
    const tell = (state: State): void => {
      states.set(name, state);
    };
    tell({ kind: 'starting' });
    const turn = async (progressed: () => void): Promise<number> => {
      const onFilled = (facts: number) => {
        progressed();
        filled?.inc({ intake: name }, facts);
      };
      await new Filling(options, tables, { tell, onFilled }, signal).run();
      return 0;
    };
    return runForever(turn, {
      name: `filling the tables of ${name}`,
      log: options.log,
      signal,
      onFailure: (error) => {
        tell({ kind: 'failed', message: messageOf(error) });
        return undefined;
      },
    });
  });
  return {
    async check() {
      for (const [name, state] of states) {
        if (state.kind === 'failed') throw new Error(`The tables of ${name}: ${state.message}`);
        if (state.kind === 'starting') throw new Error(`The tables of ${name} are being prepared.`);
      }
    },
    async stop() {
      stopping.abort();
      await Promise.all(running);
    },
  };
}

interface Observer {
  readonly tell: (state: State) => void;
  readonly onFilled: (facts: number) => void;
}

/** One life of the filling of an intake's tables: from taking the lock to the loss of its session. */
class Filling {
  readonly #options: FillingsOptions;
  readonly #tables: AnyFactTables;
  readonly #observer: Observer;
  readonly #signal: AbortSignal;
  #ask = new AbortController();

  constructor(
    options: FillingsOptions,
    tables: AnyFactTables,
    observer: Observer,
    signal: AbortSignal,
  ) {
    this.#options = options;
    this.#tables = tables;
    this.#observer = observer;
    this.#signal = signal;
  }

  /** Fills until the signal aborts. Throws when it cannot go on. */
  async run(): Promise<void> {
    const lock = await this.#connect();
    try {
      if (!(await this.#acquire(lock))) return;
      const active = await this.#prepare(lock);
      const failing = new AbortController();
      const signal = AbortSignal.any([this.#signal, lock.lost, failing.signal]);
      this.#observer.tell({ kind: 'running' });
      const fail = (error: unknown): void => failing.abort(error);
      const under = new Map<AbortController, Promise<void>>();
      const start = (row: FillingRow): void => {
        const own = new AbortController();
        // Readers see this one from now on, and no other is needed.
        const onServing = (): void => {
          for (const other of under.keys()) if (other !== own) other.abort();
        };
        const task = this.#fill(row, AbortSignal.any([signal, own.signal]), onServing);
        const ended = task.catch((error: unknown) =>
          own.signal.aborted ? undefined : fail(error),
        );
        under.set(own, ended);
      };
      for (const row of active) start(row);
      await this.#keepHouse(lock, signal, start).catch(fail);
      failing.abort();
      await Promise.all(under.values());
      if (!this.#signal.aborted) throw failing.signal.reason;
    } finally {
      await lock.close();
    }
  }

  #connect(): Promise<Connection> {
    return connect(this.#options.database, { application: 'counterfoil facts', copies: true });
  }

  /** Waits for the lock, which ends with the session; false when it was stopped meanwhile. */
  async #acquire(connection: Connection): Promise<boolean> {
    const text = 'select pg_try_advisory_lock(hashtextextended($1, 0)) as acquired';
    while (!this.#signal.aborted) {
      const values = [`counterfoil facts ${this.#tables.name}`];
      const { rows } = await connection.query<{ readonly acquired: boolean }>(text, values);
      if (rows[0]?.acquired === true) return true;
      this.#observer.tell({ kind: 'standby' });
      await sleep(standbyMilliseconds, this.#signal);
    }
    return false;
  }

  /** The fillings to be moved on: the one that readers see, where it is of this version, and the one that will be. */
  async #prepare(connection: Connection): Promise<readonly FillingRow[]> {
    const { name, version } = this.#tables;
    const own = (await readFillings(connection)).filter((row) => row.name === name && !row.retired);
    const active = own.filter((row) => row.version === version);
    for (const row of own) {
      if (row.version !== version && !row.serving) await retire(connection, row);
    }
    if (active.length === 0) return [await this.#createNext(connection)];
    const requested = await this.#requested(connection);
    return requested ? [...active, requested] : active;
  }

  /** A new filling, when one is asked for and none is under way. */
  async #requested(connection: Connection): Promise<FillingRow | null> {
    const { name, version } = this.#tables;
    const own = (await readFillings(connection)).filter(
      (row) => row.name === name && row.version === version && !row.retired,
    );
    const isBuilding = own.some(({ serving }) => !serving);
    const isAsked = own.some(({ rebuildRequested }) => rebuildRequested);
    return isAsked && !isBuilding ? await this.#createNext(connection) : null;
  }

  async #createNext(connection: Connection): Promise<FillingRow> {
    const { name, version } = this.#tables;
    const rows = await readFillings(connection);
    const generations = rows
      .filter((row) => row.name === name && row.version === version)
      .map(({ generation }) => generation);
    return this.#create(connection, {
      name,
      version,
      generation: Math.max(-1, ...generations) + 1,
    });
  }

  async #create(connection: Connection, key: FillingKey): Promise<FillingRow> {
    const schema = quotedSchema(key);
    await transaction(connection, async () => {
      await connection.query(`create schema ${schema}`);
      await connection.query(`grant usage on schema ${schema} to ${readerRole}`);
      for (const text of this.#tables.create(schema, readerRole)) await connection.query(text);
      await addFilling(connection, key);
    });
    const nothing = { serving: false, retired: false, rebuildRequested: false, mark: null };
    return { ...key, ...nothing, position: 0n, partChanges: 0 };
  }

  /**
   * Drops what nobody needs any more, from time to time, and starts a rebuild when one is asked for: a new filling
   * beside the one that readers see.
   */
  async #keepHouse(
    connection: Connection,
    signal: AbortSignal,
    start: (row: FillingRow) => void,
  ): Promise<void> {
    const { name } = this.#tables;
    let asked = new AbortController();
    const ended = new AbortController();
    const hearing = this.#hearWishes(AbortSignal.any([signal, ended.signal]), () => asked.abort());
    try {
      while (!signal.aborted) {
        await sleep(graceMilliseconds, AbortSignal.any([signal, asked.signal]));
        if (signal.aborted) break;
        if (!asked.signal.aborted) {
          const own = (await readFillings(connection)).filter((row) => row.name === name);
          for (const row of own) if (row.retired) await dropFilling(connection, row);
        }
        asked = new AbortController();
        const row = await this.#requested(connection);
        if (row) start(row);
      }
    } finally {
      ended.abort();
      await hearing;
    }
    if (connection.lost.aborted) throw connection.lost.reason;
  }

  /** Hears of rebuilds that are asked for, and of parts that somebody wants kept or dropped. */
  #hearWishes(signal: AbortSignal, onHeard: () => void): Promise<void> {
    const { database, session = listeningSession(database), log } = this.#options;
    return hearChannel(session, fillingsChannel, {
      name: `hearing of wishes for the tables of ${this.#tables.name}`,
      log,
      signal,
      onHeard: () => {
        onHeard();
        this.#ask.abort();
        this.#ask = new AbortController();
      },
    });
  }

  /** Follows the log for one filling, over a session of its own, until it is replaced. */
  async #fill(row: FillingRow, signal: AbortSignal, onServing: () => void): Promise<void> {
    const connection = await this.#connect();
    try {
      // Rows and position are lost together, and the log has both.
      await connection.query('set synchronous_commit = off');
      const end = AbortSignal.any([signal, connection.lost]);
      await this.#follow(connection, row, end, onServing);
      if (connection.lost.aborted) throw connection.lost.reason;
    } finally {
      await connection.close();
    }
  }

  async #follow(
    connection: Connection,
    row: FillingRow,
    signal: AbortSignal,
    onServing: () => void,
  ): Promise<void> {
    const { store, log } = this.#options;
    const filler = this.#tables.filler(fillSession(connection, quotedSchema(row)));
    const decode = fillDecoder(this.#tables);
    const bears = bearsOn(this.#tables);
    const turns = new Mutex();
    let { position, partChanges, mark, serving } = row;
    const place = (): FillingPlace => ({ ...row, position, partChanges });
    const end = new AbortController();
    let keeping = Promise.resolve();
    const onChanged = (): void => {
      partChanges += 1;
      filler.forget();
    };
    const keep = (): void => {
      const until = AbortSignal.any([signal, end.signal]);
      keeping = this.#keepParts(connection, turns, { place, onChanged }, until);
    };
    const batches = store.follow(
      {
        prefixes: fillPrefixes(this.#tables),
        after: async () => {
          await assertSameLog(store, mark);
          return position;
        },
        signal,
        onLost: (error) => log.warn({ err: error }, 'event store lost, reconnecting'),
      },
      eventsMaximum,
    );
    const tend = async (): Promise<boolean> => {
      const piece = async () => await filler.tend?.();
      if (filler.hasMore) await turns.run(() => this.#take(connection, filler, piece));
      return filler.hasMore ?? false;
    };
    const take = async (items: readonly LogItem[]): Promise<void> => {
      const to = positionAfter(items) ?? position;
      const events = eventsOf(items);
      const last = events.at(-1);
      const seen = last ? markOf(last) : mark;
      const batch = decode(events);
      const counts = batch.some(bears);
      const isShown = isCaughtUp(items) && !serving;
      await turns.run(async () => {
        await this.#take(connection, filler, async () => {
          if (batch.length > 0) await filler.take(batch);
          if (to > position) await moveFilling(connection, place(), { to, mark: seen, counts });
          if (isShown) await serve(connection, row);
        });
        [position, mark] = [to, seen];
      });
      if (isShown) {
        serving = true;
        onServing();
        keep();
      }
      this.#observer.onFilled(countFacts(batch));
    };
    const aside = isAside(this.#tables);
    // Facts are shown at once. What has time comes with every debit of a wallet, say, and shares a transaction; of a backlog
    // there is always as much as may be there at once.
    const gathersAfter = (items: readonly LogItem[]): boolean =>
      items.length < eventsMaximum && eventsOf(items).every(aside);
    const passesBy = passedBy(filler);
    const weighed = weigherOf(this.#tables);
    const weigh = (item: LogItem): number => (item.kind === 'event' ? weighed(item.event) : 0);
    const source = withSeldomPlaces(gathered(batches, signal, { gathersAfter }), { passesBy });
    if (serving) keep();
    try {
      for await (const items of between(source, tend)) {
        for (const portion of portionsOf(items, weigh, writtenTogether)) await take(portion);
      }
    } finally {
      end.abort();
      await keeping;
    }
  }

  /** Keeps the parts of a filling that readers see, in turn with its batches. */
  #keepParts(
    connection: Connection,
    turns: Mutex,
    filling: Pick<KeptFilling, 'place' | 'onChanged'>,
    signal: AbortSignal,
  ): Promise<void> {
    const { store, database, retention = null, log } = this.#options;
    const between: KeptFilling['between'] = (work) => turns.run(() => work(connection));
    const asks = (): AbortSignal => this.#ask.signal;
    const kept = { ...filling, tables: this.#tables, between };
    return keepParts(kept, { store, database, retention, log, asks }, signal);
  }

  async #take(
    connection: Connection,
    filler: Filler<unknown>,
    work: () => Promise<void>,
  ): Promise<void> {
    try {
      await transaction(connection, work);
    } catch (error) {
      filler.forget();
      throw error;
    }
  }
}

const countFacts = (batch: ReturnType<ReturnType<typeof fillDecoder>>): number =>
  batch.reduce((sum, item) => sum + (item.kind === 'facts' ? item.facts.length : 0), 0);
