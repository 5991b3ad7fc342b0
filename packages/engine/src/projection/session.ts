import { gathered } from '../consume/gathering.ts';
import { hearChannel } from '../consume/hear-channel.ts';
import { sleep } from '../consume/run-forever.ts';
import type { Connection } from '../database/database.ts';
import { type ListeningSession, listeningSession } from '../database/listening-session.ts';
import { Mutex } from '../database/mutex.ts';
import type { AnyProjection } from '../define/projection.ts';
import { isCaughtUp, positionAfter } from '../log/follow.ts';
import { categoryPrefix } from '../log/stream-name.ts';
import type { EventStore, LogItem, Position } from '../log/types.ts';
import type { Log } from '../operations/log.ts';
import type { Metrics } from '../operations/metrics.ts';
import { catchUp } from './catch-up.ts';
import { controlChannel, joinProjector, readProjector } from './checkpoint.ts';
import { categoriesOf, categoryOf } from './fold.ts';
import { LiveTables } from './live-tables.ts';
import { assertSameLog, ForeignLog } from './log-identity.ts';
import type { PositionClock } from './projected-position.ts';
import type { StatusBoard } from './projector-status.ts';
import { RowCache } from './row-store.ts';
import type { BatchContext } from './table-change.ts';
import { type ActiveTable, dropRetired, prepareTables, startRequested } from './table-registry.ts';

export interface ProjectorOptions {
  readonly store: EventStore;
  readonly database: string;
  /** The session in which the process listens; one of its own unless given. */
  readonly session?: ListeningSession;
  /** All read tables of the service. */
  readonly tables: readonly AnyProjection[];
  /**
   * Categories of streams without a read table. Positions in them are reached at once, instead of
   * at the next checkpoint that the event store sends.
   */
  readonly categories?: readonly string[];
  readonly log: Log;
  readonly metrics?: Metrics;
  /** Items of the log per transaction. */
  readonly batchMaximum?: number;
  /** Characters of JSON that the cache of rows may hold. */
  readonly cacheWeight?: number;
}

export interface SessionOptions extends ProjectorOptions {
  readonly board: StatusBoard;
  readonly clock: PositionClock;
  /** Told after every batch. */
  readonly progressed: () => void;
}

const defaultBatchMaximum = 4_000;
/**
 * Events per transaction of tables that fill. While one batch is written the next one is folded and a third one read: the
 * larger they are, the more of them the collector copies, and the longer the live tables stand still.
 */
const fillingBatchMaximum = 1_000;
/** Streams of the engine itself; followed so that a position inside them is reached as well. */
const reservationCategory = 'reservation';
const housekeepingMilliseconds = 10_000;

/** The place from which a session starts. */
interface Start {
  readonly live: LiveTables;
  /** Tables that have to catch up first. */
  readonly behind: readonly ActiveTable[];
  /** The log has been considered up to here: no event of the live tables may turn up before it. */
  readonly position: Position;
  readonly categories: ReadonlySet<string>;
  /** End of the log at the start. */
  readonly head: Position;
}

/**
 * One life of an active projector: from taking the lock to losing its connection. It holds nothing
 * that is not in Postgres, so the next one starts where the last commit left off. All its
 * statements go over the connection that holds the lock, one piece of work at a time:
 * whoever has lost the lock cannot commit any more.
 */
export class Session {
  readonly #options: SessionOptions;
  readonly #connection: Connection;
  readonly #context: BatchContext;
  readonly #signal: AbortSignal;
  readonly #abort = new AbortController();
  readonly #batchMaximum: number;
  readonly #mutex = new Mutex();
  readonly #tasks = new Set<Promise<void>>();
  #failure: unknown = null;

  constructor(options: SessionOptions, connection: Connection, signal: AbortSignal) {
    this.#options = options;
    this.#connection = connection;
    this.#batchMaximum = options.batchMaximum ?? defaultBatchMaximum;
    this.#context = { connection, cache: new RowCache(options.cacheWeight) };
    this.#signal = AbortSignal.any([signal, this.#abort.signal]);
  }

  /** Projects until the signal aborts. Throws when the session cannot go on. */
  async run(): Promise<void> {
    const { board } = this.#options;
    this.#connection.lost.addEventListener('abort', () => this.#fail(this.#connection.lost.reason));
    const start = await this.#prepare();
    const { live } = start;
    board.state = 'running';
    board.failure = null;
    this.#spawn(() => this.#keepHouse(live));
    this.#spawn(() => this.#hearRequests(live));
    // Tables at the same position can share one reader.
    for (const group of Map.groupBy(start.behind, (table) => table.position).values()) {
      this.#spawn(() => this.#catchUp(live, group));
    }
    this.#spawn(() => this.#follow(start));
    await new Promise<void>((resolve) => {
      if (this.#signal.aborted) resolve();
      this.#signal.addEventListener('abort', () => resolve(), { once: true });
    });
    await Promise.all(this.#tasks);
    if (this.#failure) throw this.#failure;
  }

  /** Loads the checkpoints, recognises the log and sorts the tables. */
  async #prepare(): Promise<Start> {
    const { store, tables, board, clock } = this.#options;
    const projector = await readProjector(this.#connection);
    const { position } = projector;
    await assertSameLog(store, projector.mark);
    const head = await store.head();
    const active = await prepareTables(this.#connection, tables);
    board.clearTables();
    const live = new LiveTables(this.#context, projector, board, clock);
    const behind = active.filter((table) => table.position !== position);
    const level = active.filter((table) => table.position === position);
    const joining = level.filter(({ standsTogether }) => !standsTogether);
    await joinProjector(this.#connection, position, joining);
    for (const table of level) live.add(table);
    for (const table of behind) board.setTable(table, true);
    const categories = categoriesOf(live.tables.map(({ table }) => table));
    return { live, behind, position, categories, head };
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
    this.#tasks.add(done);
    void done.then(() => this.#tasks.delete(done));
  }

  /** Runs work that nothing else of this session may interleave with. */
  #exclusive<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#mutex.run(() => {
      this.#signal.throwIfAborted();
      return work();
    });
  }

  async #follow(start: Start): Promise<void> {
    const { store, tables, categories = [], board, progressed } = this.#options;
    const { live } = start;
    const followed = new Set([...categoriesOf(tables), ...categories, reservationCategory]);
    // After the last event, not after the checkpoint, which may be beyond it: see assertKnown.
    let received = live.mark?.position ?? 0n;
    const batches = store.follow(
      {
        prefixes: [...followed].map(categoryPrefix),
        after: async () => {
          await this.#recognise(live);
          return received;
        },
        signal: this.#signal,
        onLost: (error) => board.log.warn({ err: error }, 'event store lost, reconnecting'),
      },
      this.#batchMaximum,
    );
    for await (const items of gathered(batches, this.#signal)) {
      received = positionAfter(items) ?? received;
      assertKnown(items, start);
      await this.#exclusive(async () => {
        await live.take(items);
        progressed();
        const isAtHead = isCaughtUp(items);
        if (isAtHead || live.position >= start.head) board.caughtUp = true;
        // A table that is filled for the first time is shown once it has all events that the log
        // had at the start.
        if (board.caughtUp) await live.promoteAll();
      });
    }
    if (!this.#signal.aborted) throw new Error('The subscription ended by itself.');
  }

  /** Asked at every start of the subscription: a log may be exchanged while it is away. */
  async #recognise(live: LiveTables): Promise<void> {
    try {
      await assertSameLog(this.#options.store, live.mark);
    } catch (error) {
      if (error instanceof ForeignLog) this.#fail(error);
      throw error;
    }
  }

  async #catchUp(live: LiveTables, group: ActiveTable[]): Promise<void> {
    const { store, board } = this.#options;
    await catchUp({
      store,
      group,
      batchMaximum: Math.min(this.#batchMaximum, fillingBatchMaximum),
      signal: this.#signal,
      context: this.#context,
      live,
      exclusive: (work) => this.#exclusive(work),
      onBatch: (events, seconds) => {
        for (const table of group) board.setTable(table, true);
        board.countBatch(events, seconds);
      },
    });
  }

  async #startRequested(live: LiveTables): Promise<void> {
    const { tables, board } = this.#options;
    const { started, givenUp } = await this.#exclusive(() =>
      startRequested(this.#connection, tables),
    );
    for (const relation of givenUp) board.removeTable(relation);
    // The name of a relation may be one that was used before.
    if (started.length > 0) this.#context.cache.clear();
    for (const table of started) {
      board.setTable(table, true);
      board.log.info({ table: table.name }, 'rebuilding read table');
    }
    if (started.length > 0) this.#spawn(() => this.#catchUp(live, started));
  }

  #hearRequests(live: LiveTables): Promise<void> {
    const { database, session = listeningSession(database), log } = this.#options;
    return hearChannel(session, controlChannel, {
      name: 'hearing of rebuilds',
      log,
      signal: this.#signal,
      onHeard: () => this.#spawn(() => this.#startRequested(live)),
    });
  }

  /**
   * From time to time: drops tables that are no longer used, and looks for requests whose
   * notification was missed. Also a sign of life: Postgres ends a silent session, so that a standby
   * can take over.
   */
  async #keepHouse(live: LiveTables): Promise<void> {
    while (!this.#signal.aborted) {
      await this.#exclusive(() => dropRetired(this.#connection));
      await this.#startRequested(live);
      if (this.#options.board.caughtUp) await this.#exclusive(() => live.promoteAll());
      await sleep(housekeepingMilliseconds, this.#signal);
    }
  }
}

/**
 * The subscription starts after the last event, not after the last checkpoint, though the filter had
 * nothing for us in between. If it has something now, a log that ended there has been restored
 * and written to again.
 */
function assertKnown(items: readonly LogItem[], { position, categories }: Start): void {
  for (const item of items) {
    if (item.kind !== 'event' || item.event.position > position) continue;
    const { stream, revision } = item.event;
    if (!categories.has(categoryOf(stream))) continue;
    throw new ForeignLog(
      `event ${stream}@${revision} at position ${item.event.position} was not there when the ` +
        `log was read up to position ${position}`,
    );
  }
}
