import { eventsOf, positionAfter } from '../log/follow.ts';
import type { LogItem, Position, StoredEvent } from '../log/types.ts';
import { applyBatch, type Stopped } from './apply-batch.ts';
import { type LogMark, markOf, moveProjector, type ProjectorRow, stopTable } from './checkpoint.ts';
import type { PositionClock } from './projected-position.ts';
import type { StatusBoard } from './projector-status.ts';
import type { BatchContext } from './table-change.ts';
import { type ActiveTable, dropRetired, promote } from './table-registry.ts';

/** After readers have not let go of a table, the switch is not tried again for so long. */
const promotionPauseMilliseconds = 10_000;

/** The tables that follow the log together: all of them are at one position. */
export class LiveTables {
  readonly #context: BatchContext;
  readonly #board: StatusBoard;
  readonly #clock: PositionClock;
  readonly #tables = new Map<string, ActiveTable>();
  #position: Position;
  #mark: LogMark | null;
  #promoteAfter = 0;

  constructor(
    context: BatchContext,
    start: ProjectorRow,
    board: StatusBoard,
    clock: PositionClock,
  ) {
    this.#context = context;
    this.#board = board;
    this.#clock = clock;
    this.#position = start.position;
    this.#mark = start.mark;
    board.position = start.position;
    clock.set(start.position);
  }

  /** Everything up to here is in the tables. */
  get position(): Position {
    return this.#position;
  }

  /** The last event that was projected. */
  get mark(): LogMark | null {
    return this.#mark;
  }

  get tables(): readonly ActiveTable[] {
    return [...this.#tables.values()];
  }

  /** Takes in a table that is at the position of the others. */
  add(table: ActiveTable): void {
    this.#tables.set(table.relation, table);
    this.#board.setTable(table, false);
  }

  /** Projects what the items hold beyond the position, in one transaction, and moves there. */
  async take(items: readonly LogItem[]): Promise<void> {
    const position = positionAfter(items);
    if (position === null || position <= this.#position) return;
    const events = eventsOf(items);
    const startedAt = performance.now();
    await this.#project(
      events.filter((event) => event.position > this.#position),
      position,
    );
    this.#board.countBatch(events.length, (performance.now() - startedAt) / 1_000);
  }

  async #project(events: readonly StoredEvent[], position: Position): Promise<void> {
    const last = events.at(-1);
    const mark = last ? markOf(last) : null;
    const { tables } = this;
    const stopped = await applyBatch(this.#context, tables, events, async (failed) => {
      await this.recordStopped(failed);
      await moveProjector(this.#context.connection, this.#position, position, mark);
    });
    this.#position = position;
    this.#mark = mark ?? this.#mark;
    for (const { target } of stopped) this.#tables.delete(target.relation);
    this.reportStopped(stopped);
    for (const table of this.#tables.values()) {
      table.position = position;
      this.#board.setTable(table, false);
    }
    this.#board.position = position;
    this.#clock.set(position);
  }

  /** Writes down, inside the transaction of a batch, that tables have stopped. */
  async recordStopped(stopped: readonly Stopped<ActiveTable>[]): Promise<void> {
    for (const { target, reason, lastGood } of stopped) {
      await stopTable(this.#context.connection, target, lastGood ?? target.position, reason);
    }
  }

  /** Tells, after the transaction, that tables have stopped. */
  reportStopped(stopped: readonly Stopped<ActiveTable>[]): void {
    for (const { target, reason, lastGood } of stopped) {
      target.position = lastGood ?? target.position;
      this.#board.stopTable(target, reason);
    }
  }

  /**
   * Shows readers the tables that they do not see yet, and drops those that they replace. All at once; where readers hold
   * one of them, one after the other up to that.
   */
  async promoteAll(): Promise<void> {
    const hidden = this.tables.filter(({ serving }) => !serving);
    if (hidden.length === 0 || performance.now() < this.#promoteAfter) return;
    if (!(await this.#promote(hidden))) await this.#promoteInTurn(hidden);
    await dropRetired(this.#context.connection);
  }

  async #promoteInTurn(hidden: readonly ActiveTable[]): Promise<void> {
    for (const table of hidden) {
      if (await this.#promote([table])) continue;
      this.#promoteAfter = performance.now() + promotionPauseMilliseconds;
      const { name } = table;
      this.#board.log.warn({ table: name }, 'readers hold the old table, switching later');
      return;
    }
  }

  async #promote(tables: readonly ActiveTable[]): Promise<boolean> {
    if (!(await promote(this.#context.connection, tables))) return false;
    for (const table of tables) {
      const { name, version, generation } = table;
      this.#board.setTable(table, false);
      this.#board.log.info({ table: name, version, generation }, 'read table is live');
      this.#board.keepOnly(table);
      for (const other of this.tables) {
        if (other.name === name && other !== table) this.#tables.delete(other.relation);
      }
    }
    return true;
  }
}
