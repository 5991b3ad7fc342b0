import type { AnyReadTable } from '../define/read-table.ts';
import { categoryPrefix } from '../log/stream-name.ts';
import type { EventStore, LogItem, Position, StoredEvent } from '../log/types.ts';
import { applyBatch, type Stopped } from './apply-batch.ts';
import {
  controlChannel,
  type LogMark,
  markOf,
  moveCheckpoints,
  readProjector,
  stopTable,
} from './checkpoint.ts';
import type { Connection } from './database.ts';
import { categoryOf } from './fold.ts';
import { assertSameLog, ForeignLog } from './log-identity.ts';
import { Mutex } from './mutex.ts';
import type { PositionClock } from './projected-position.ts';
import type { StatusBoard } from './projector-status.ts';
import { RowCache } from './row-cache.ts';
import { catchUp } from './straggler.ts';
import {
  type ActiveTable,
  dropRetired,
  prepareTables,
  promote,
  startRequested,
} from './table-registry.ts';

export interface SessionOptions {
  readonly store: EventStore;
  readonly tables: readonly AnyReadTable[];
  /** Categories to follow beside those of the tables. */
  readonly categories: readonly string[];
  readonly batchMaximum: number;
  readonly cacheWeight: number | undefined;
  readonly board: StatusBoard;
  readonly clock: PositionClock;
}

/** Streams of the engine itself; followed so that a position inside them is reached as well. */
const reservationCategory = 'reservation';
const housekeepingMilliseconds = 10_000;

/**
 * One life of an active projector: from taking the lock to losing its connection. It holds nothing
 * that is not in Postgres, so the next one starts where the last commit left off. All its
 * statements go over the connection that holds the lock, one piece of work at a time:
 * whoever has lost the lock cannot commit any more.
 */
export class Session {
  readonly #options: SessionOptions;
  readonly #connection: Connection;
  readonly #signal: AbortSignal;
  readonly #abort = new AbortController();
  readonly #mutex = new Mutex();
  readonly #cache: RowCache;
  readonly #tasks: Promise<void>[] = [];
  readonly #live = new Map<string, ActiveTable>();
  /** Where the log was considered up to when the session began; nothing may turn up before it. */
  #start: Position = 0n;
  #startCategories: ReadonlySet<string> = new Set();
  #position: Position = 0n;
  #received: Position = 0n;
  #mark: LogMark | null = null;
  #head: Position = 0n;
  #failure: unknown = null;

  constructor(options: SessionOptions, connection: Connection, signal: AbortSignal) {
    this.#options = options;
    this.#connection = connection;
    this.#signal = AbortSignal.any([signal, this.#abort.signal]);
    this.#cache = new RowCache(options.cacheWeight);
  }

  /** Projects until the signal aborts. Throws when the session cannot go on. */
  async run(): Promise<void> {
    const { board } = this.#options;
    this.#connection.lost.addEventListener('abort', () => this.#fail(this.#connection.lost.reason));
    const behind = await this.#prepare();
    this.#connection.onNotification((channel) => {
      if (channel === controlChannel) this.#spawn(() => this.#startRequested());
    });
    await this.#connection.query(`listen ${controlChannel}`);
    const timer = setInterval(() => this.#spawn(() => this.#keepHouse()), housekeepingMilliseconds);
    board.state = 'running';
    board.error = null;
    this.#spawn(() => this.#keepHouse());
    for (const group of groupsByPosition(behind)) this.#spawn(() => this.#catchUp(group));
    this.#spawn(() => this.#follow());
    await new Promise<void>((resolve) => {
      if (this.#signal.aborted) resolve();
      this.#signal.addEventListener('abort', () => resolve(), { once: true });
    });
    clearInterval(timer);
    await Promise.all(this.#tasks);
    if (this.#failure) throw this.#failure;
  }

  /** Loads the checkpoints, recognises the log and gives the tables that have to catch up. */
  async #prepare(): Promise<ActiveTable[]> {
    const { store, tables, board, clock } = this.#options;
    const { position, mark } = await readProjector(this.#connection);
    await assertSameLog(store, mark);
    this.#head = await store.head();
    const active = await prepareTables(this.#connection, tables);
    this.#position = position;
    this.#start = position;
    this.#mark = mark;
    // Not from the checkpoint, which may be beyond the last event: see #assertKnown.
    this.#received = mark?.position ?? 0n;
    board.clearTables();
    const behind: ActiveTable[] = [];
    for (const table of active) {
      if (table.position === position) this.#live.set(table.relation, table);
      else behind.push(table);
      board.setTable(table, table.position !== position);
    }
    const categories = [...this.#live.values()].map(({ table }) => table.aggregate.name);
    this.#startCategories = new Set(categories);
    board.position = position;
    clock.set(position);
    return behind;
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
    this.#abort.abort();
  }

  /** Runs a task beside the others; its failure ends the session. */
  #spawn(task: () => Promise<void>): void {
    if (this.#signal.aborted) return;
    const done = task().catch((error: unknown) => {
      if (!this.#signal.aborted) this.#fail(error);
    });
    this.#tasks.push(done);
    void done.then(() => this.#tasks.splice(this.#tasks.indexOf(done), 1));
  }

  /** Runs work that nothing else of this session may interleave with. */
  #exclusive<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#mutex.run(() => {
      this.#signal.throwIfAborted();
      return work();
    });
  }

  async #follow(): Promise<void> {
    const { store, tables, batchMaximum, board } = this.#options;
    const categories = new Set([
      ...tables.map((table) => table.aggregate.name),
      ...this.#options.categories,
      reservationCategory,
    ]);
    const batches = store.follow(
      {
        prefixes: [...categories].map(categoryPrefix),
        after: () => this.#resumeAfter(),
        signal: this.#signal,
        onLost: (error) => board.log.warn({ err: error }, 'event store lost, reconnecting'),
      },
      batchMaximum,
    );
    for await (const items of batches) {
      this.#received = lastPosition(items) ?? this.#received;
      await this.#exclusive(() => this.#takeItems(items));
    }
    if (!this.#signal.aborted) throw new Error('The subscription ended by itself.');
  }

  /** Asked by the subscription at every start. A log may be exchanged while it is away. */
  async #resumeAfter(): Promise<Position> {
    try {
      await assertSameLog(this.#options.store, this.#mark);
    } catch (error) {
      if (error instanceof ForeignLog) this.#fail(error);
      throw error;
    }
    return this.#received;
  }

  async #takeItems(items: readonly LogItem[]): Promise<void> {
    const events = items.flatMap((item) => (item.kind === 'event' ? [item.event] : []));
    this.#assertKnown(events);
    const position = lastPosition(items);
    if (position !== null && position > this.#position) {
      await this.#project(
        events.filter((event) => event.position > this.#position),
        position,
      );
    }
    const isAtHead = this.#position >= this.#head || items.some(({ kind }) => kind === 'caught_up');
    if (isAtHead) await this.#reachHead();
  }

  /**
   * The subscription starts after the last event, not after the last checkpoint, though the filter
   * had nothing for us in between. If it has something now, a log that ended there has been
   * restored and written to anew.
   */
  #assertKnown(events: readonly StoredEvent[]): void {
    const old = events.find(
      (event) =>
        event.position <= this.#start && this.#startCategories.has(categoryOf(event.stream)),
    );
    if (old) {
      throw new ForeignLog(
        `event ${old.stream}@${old.revision} at position ${old.position} was not there when the ` +
          `log was read up to position ${this.#start}`,
      );
    }
  }

  async #project(events: readonly StoredEvent[], position: Position): Promise<void> {
    const { board, clock } = this.#options;
    const startedAt = performance.now();
    const last = events.at(-1);
    const mark = last ? markOf(last) : null;
    const tables = [...this.#live.values()];
    const stopped = await applyBatch(
      { connection: this.#connection, cache: this.#cache },
      tables,
      events,
      async (failed) => {
        await this.#recordStopped(failed);
        const going = tables.filter((table) => !failed.some(({ target }) => target === table));
        await moveCheckpoints(this.#connection, position, mark, going);
      },
    );
    this.#position = position;
    this.#mark = mark ?? this.#mark;
    for (const { target } of stopped) this.#live.delete(target.relation);
    this.#reportStopped(stopped);
    for (const table of this.#live.values()) {
      table.position = position;
      board.setTable(table, false);
    }
    board.position = position;
    board.countBatch(events.length, (performance.now() - startedAt) / 1_000);
    clock.set(position);
  }

  async #recordStopped(stopped: readonly Stopped<ActiveTable>[]): Promise<void> {
    for (const { target, reason, lastGood } of stopped) {
      await stopTable(this.#connection, target, lastGood ?? target.position, reason);
    }
  }

  #reportStopped(stopped: readonly Stopped<ActiveTable>[]): void {
    for (const { target, reason, lastGood } of stopped) {
      target.position = lastGood ?? target.position;
      this.#options.board.stopTable(target, reason);
    }
  }

  /** Everything that was there at the start is in: what is still hidden may be shown. */
  async #reachHead(): Promise<void> {
    this.#options.board.caughtUp = true;
    for (const table of [...this.#live.values()].filter(({ serving }) => !serving)) {
      await this.#promote(table);
    }
  }

  async #promote(table: ActiveTable): Promise<void> {
    const { board } = this.#options;
    if (!(await promote(this.#connection, table))) {
      board.log.warn({ table: table.name }, 'readers hold the old table, switching later');
      return;
    }
    board.setTable(table, false);
    board.log.info({ table: table.name, version: table.version }, 'read table is live');
    for (const other of [...this.#live.values()]) {
      if (other.name === table.name && other !== table) {
        this.#live.delete(other.relation);
        board.removeTable(other.relation);
      }
    }
  }

  async #catchUp(group: ActiveTable[]): Promise<void> {
    const { store, batchMaximum, board } = this.#options;
    await catchUp({
      store,
      group,
      batchMaximum,
      signal: this.#signal,
      livePosition: () => this.#position,
      exclusive: (work) => this.#exclusive(work),
      context: { connection: this.#connection, cache: this.#cache },
      recordStopped: (stopped) => this.#recordStopped(stopped),
      onBatch: (stopped) => {
        this.#reportStopped(stopped);
        for (const table of group) board.setTable(table, true);
      },
      join: async (tables) => {
        for (const table of tables) {
          this.#live.set(table.relation, table);
          board.setTable(table, false);
          if (!table.serving) await this.#promote(table);
        }
      },
    });
  }

  async #startRequested(): Promise<void> {
    const started = await this.#exclusive(() =>
      startRequested(this.#connection, this.#options.tables),
    );
    for (const table of started) {
      this.#options.board.setTable(table, true);
      this.#options.board.log.info({ table: table.name }, 'rebuilding read table');
    }
    if (started.length > 0) this.#spawn(() => this.#catchUp(started));
  }

  /** Also a sign of life: Postgres ends a session that is silent, so that a standby can take over. */
  async #keepHouse(): Promise<void> {
    await this.#exclusive(() => dropRetired(this.#connection));
    await this.#startRequested();
    if (!this.#options.board.caughtUp) return;
    await this.#exclusive(() => this.#reachHead());
  }
}

const lastPosition = (items: readonly LogItem[]): Position | null => {
  const item = items.findLast(({ kind }) => kind !== 'caught_up');
  if (!item || item.kind === 'caught_up') return null;
  return item.kind === 'event' ? item.event.position : item.position;
};

/** Tables at the same position can share one reader. */
const groupsByPosition = (tables: readonly ActiveTable[]): ActiveTable[][] => {
  const groups = new Map<Position, ActiveTable[]>();
  for (const table of tables) {
    groups.set(table.position, [...(groups.get(table.position) ?? []), table]);
  }
  return [...groups.values()];
};
