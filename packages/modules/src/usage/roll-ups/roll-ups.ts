import type { FillSession } from '@counterfoil/engine/define';
import type { Instant } from '@counterfoil/kernel';
import { countPast, type Piece, usualPiece } from './count-past.ts';
import { dropRetired } from './drop-retired.ts';
import { type GroupingChange, Measures, type MeterChange } from './measures.ts';
import { recountHour } from './recount.ts';
import { type TalliedEvent, Tally } from './tally.ts';
import { writeTally } from './write-tally.ts';

/** An event that was written to the tables just now. */
export interface WrittenEvent extends TalliedEvent {
  readonly environment: number;
  readonly eventName: string;
}

/** Keeps sums by the hour, in the transaction that writes the events themselves. */
export class RollUps {
  readonly #session: FillSession;
  readonly #measures: Measures;
  readonly #piece: Piece;
  #hasMore = true;

  constructor(session: FillSession, piece: Piece = usualPiece) {
    this.#session = session;
    this.#piece = piece;
    this.#measures = new Measures(session);
  }

  forget(): void {
    this.#measures.forget();
    this.#hasMore = true;
  }

  follow(change: MeterChange): Promise<void> {
    this.#hasMore = true;
    return this.#measures.follow(change);
  }

  followGrouping(change: GroupingChange): Promise<void> {
    this.#hasMore = true;
    return this.#measures.followGrouping(change);
  }

  /** Counts events that were written to the tables, each once. */
  async count(events: Iterable<WrittenEvent>): Promise<void> {
    await this.#measures.load();
    const tally = new Tally();
    for (const event of events) {
      for (const measure of this.#measures.of(event.environment, event.eventName)) {
        tally.add(measure, event);
      }
    }
    await writeTally(this.#session, tally);
  }

  /**
   * Counts an hour of an account again, for every measure of the events of a name, from the events that are there:
   * for events that count no more.
   */
  async recount(place: {
    readonly environment: number;
    readonly eventName: string;
    readonly account: string;
    readonly hour: Instant;
  }): Promise<void> {
    await this.#measures.load();
    for (const measure of this.#measures.of(place.environment, place.eventName)) {
      await recountHour(this.#session, measure, place);
    }
  }

  /** True while measures may have to be completed, or to be taken out. */
  get hasMore(): boolean {
    return this.#hasMore;
  }

  /** Does a bounded piece of that. */
  async tend(): Promise<void> {
    this.#hasMore =
      (await countPast(this.#session, this.#piece)) || (await dropRetired(this.#session));
  }
}
