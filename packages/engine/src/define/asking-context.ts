import type {
  Aggregate,
  AnyAggregate,
  EventCatalogue,
  EventOf,
  Instant,
} from '@counterfoil/kernel';
import type { CommandContext, HistoryEvent, Place, Reader } from './context.ts';
import type { FactReads } from './intake.ts';
import type { Part } from './part.ts';

/** A part of a history: from a revision on, and the most revisions of it. */
export interface HistoryRange {
  readonly from?: number;
  readonly maximum?: number;
}

/** Records by their id, and by the unique values that they hold. */
export interface Records extends Pick<CommandContext, 'load'> {
  /**
   * The id of the record that holds a unique value of an aggregate, from the log: never behind.
   * Null when none does.
   */
  holderOf(aggregate: AnyAggregate, name: string, value: string): Promise<string | null>;
}

/** Records for questions, which decide nothing; see `AskingContext.recalled`. */
export interface RecalledRecords extends Records, Pick<AskingContext, 'history'> {
  /**
   * A record as this process knows it; none where it knows of none. For what most places have none of, such as a setting of their own, and
   * for what tables have named.
   */
  readonly known: Records['load'];
}

/** Everything that can be asked, by a caller or by work that the service does by itself. */
export interface AskingContext extends Records {
  /** The present instant of the environment, which may have a clock of its own. */
  readonly now: Instant;
  /** The place in which is asked: that of the caller, or of the record that the work is about. */
  readonly principal: Place;
  readonly read: Reader;
  /**
   * The same records for a question, which decides nothing: from memory where this process has been told of everything
   * that the caller has written, and of the position it insists on. What others wrote a moment ago may be missing. A
   * record that is not found there is looked up in the log. Work that the service does by itself is given what is in the log.
   */
  readonly recalled: RecalledRecords;
  /**
   * The events of a record as they stand in the log, in order, from a revision on, up to a number.
   * None for a record that does not exist.
   */
  history<Catalogue extends EventCatalogue, State>(
    aggregate: Aggregate<string, Catalogue, State>,
    id: string,
    options?: HistoryRange,
  ): AsyncIterable<HistoryEvent<EventOf<Catalogue>>>;
  /** Reads of the tables of facts. */
  readonly facts: FactReads;
  /**
   * Reads of facts that show everything which is in the log by now. The first of them throws 503 while their tables
   * are further behind than it waits.
   */
  factsByNow(): Promise<FactReads>;
  /**
   * Commands that have no part in an answer, nor in what follows from an occasion: neither a position nor a key or a tag
   * is about them.
   */
  beside(): CommandContext;
  /** A part from outside, as this process was given it. */
  part<Thing>(wanted: Part<Thing>): Thing;
}

/** The same questions, with other reads of facts. */
export const askingWith = (context: AskingContext, facts: FactReads): AskingContext => ({
  now: context.now,
  principal: context.principal,
  recalled: context.recalled,
  facts,
  get read() {
    return context.read;
  },
  load: (aggregate, id) => context.load(aggregate, id),
  holderOf: (aggregate, name, value) => context.holderOf(aggregate, name, value),
  history: (aggregate, id, range) => context.history(aggregate, id, range),
  factsByNow: () => context.factsByNow(),
  beside: () => context.beside(),
  part: (wanted) => context.part(wanted),
});

/** The same questions, of records as this process knows them (ADR 60). For a question that decides nothing, and has found what it is about by `recalled`. */
export const askingMemory = (context: AskingContext): AskingContext => ({
  now: context.now,
  principal: context.principal,
  // Each time anew: what a table has shown in the meantime must be known.
  get recalled() {
    return context.recalled;
  },
  get facts() {
    return context.facts;
  },
  get read() {
    return context.read;
  },
  load: (aggregate, id) => context.recalled.known(aggregate, id),
  holderOf: (aggregate, name, value) => context.recalled.holderOf(aggregate, name, value),
  history: (aggregate, id, range) => context.recalled.history(aggregate, id, range),
  factsByNow: () => context.factsByNow(),
  beside: () => context.beside(),
  part: (wanted) => context.part(wanted),
});
