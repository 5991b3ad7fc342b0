import type { AnyAggregate, EnvironmentId, Instant, TenantId } from '@counterfoil/kernel';
import type { QueryCreator } from 'kysely';
import type { z } from 'zod';
import type { AnyProjectedEvent } from './projection.ts';
import type { RouteKey } from './route-key.ts';
import type { Selection } from './tables.ts';

/**
 * A way in for facts of one kind, such as usage. A fact is recorded as it comes: nothing is decided on it,
 * no record is folded from it, and many of them stand in one event of the log.
 */
export interface Intake<Name extends string = string, Fact = unknown> {
  /** The category of the streams. */
  readonly name: Name;
  /** The type of the events. The data of one is `{ facts: […] }`. */
  readonly eventType: string;
  /** A fact as the log keeps it. */
  readonly fact: z.ZodType<Fact>;
  /**
   * The route that a message asks for, where systems may send facts over NATS: the message is JSON, and has the body
   * of that route. Without it they may not.
   */
  readonly routeOf?: (message: Buffer) => RouteKey;
}

// biome-ignore lint/suspicious/noExplicitAny: lists of intakes hold every kind of fact.
export type AnyIntake = Intake<string, any>;

/** Gives an intake its exact types. */
export const intake = <const Name extends string, Fact>(
  definition: Intake<Name, Fact>,
): Intake<Name, Fact> => definition;

/** The facts of one event of the log, in their order. */
export interface RecordedFacts<Fact> {
  readonly kind: 'facts';
  readonly tenantId: TenantId;
  readonly environmentId: EnvironmentId;
  /** Place of the event in the log. */
  readonly position: string;
  readonly recordedAt: Instant;
  readonly facts: readonly Fact[];
}

/** An event of a record that the tables of facts depend on. */
export interface RecordChange {
  readonly kind: 'record';
  readonly tenantId: TenantId;
  readonly environmentId: EnvironmentId;
  readonly event: AnyProjectedEvent;
}

/** The session in which tables of facts are filled: all of it is one transaction for each batch. */
export interface FillSession {
  /** The schema of the tables, in quotes. */
  readonly schema: string;
  query<Row>(
    text: string,
    values?: readonly unknown[],
  ): Promise<{ readonly rows: readonly Row[]; readonly count: number }>;
  /** Writes rows by `COPY`: each is the text of its values, made by `copyLine`. */
  copy(relation: string, columns: readonly string[], lines: readonly string[]): Promise<void>;
}

/** Fills the tables in one session; it may keep in memory what that session has committed. */
export interface Filler<Fact> {
  /** Takes a batch, in the order of the log. */
  take(batch: readonly (RecordedFacts<Fact> | RecordChange)[]): Promise<void>;
  /**
   * Tells of an event of a record, by its aggregate and type, that it would change nothing, whatever it says. Asked right before the
   * batch with it is taken, of the tables as they stand then: what an event of that batch makes of them has to see to the later ones.
   */
  passesBy?(aggregate: string, type: string): boolean;
  /** True while something may be left to do beside the log. */
  readonly hasMore?: boolean;
  /** Does a bounded piece of that, in a transaction of its own between two batches. */
  tend?(): Promise<void>;
  /** Forgets what it keeps in memory, after a transaction that was rolled back. */
  forget(): void;
}

/** A stretch of time whose facts can be dropped one by one, and filled again from the log. */
export interface FactPart {
  /** As people write it. */
  readonly name: string;
  /** The table of its facts. */
  readonly relation: string;
  /** The instant at which it ends. */
  readonly end: Instant;
  readonly isDropped: boolean;
  /** True for a dropped one without whose facts something that the log says cannot be counted. */
  readonly isNeeded: boolean;
}

/** Tables that were made beside those that readers see. */
export interface MadeBeside {
  /** Their schema, in quotes. */
  readonly schema: string;
  /** Facts up to this position of the log were in them when the part was prepared. */
  readonly preparedUpTo: string;
}

/**
 * The parts of tables of facts. What is kept of a dropped one besides its facts stays, and is kept up to date. Whoever calls
 * sees to it that nothing else writes to the tables meanwhile.
 */
export interface FactParts<Fact = unknown> {
  /** The parts of the tables, those that are dropped too, in the order of time. */
  list(session: FillSession): Promise<readonly FactPart[]>;
  /** Drops a part, in the transaction of the caller. False while something has to be done first that needs its facts. */
  drop(session: FillSession, name: string): Promise<boolean>;
  /** Fills empty tables with the facts of some parts, and with nothing of others but what tells whether a fact counts. */
  refiller(session: FillSession, names: readonly string[]): Filler<Fact>;
  /** Copies the facts of a part from tables beside to where readers do not see them yet. */
  prepare(session: FillSession, made: string, name: string): Promise<void>;
  /**
   * Lets readers see a part again, with all that its facts change, in the transaction of the caller. The tables beside are filled
   * up to the same position. False while something has to be done first.
   */
  refill(session: FillSession, made: MadeBeside, name: string): Promise<boolean>;
}

/**
 * The tables of an intake. They are filled from the log with a version, as read tables are: a new version is
 * filled beside the old one, and readers are switched when it has caught up. `Tables` are the columns that
 * readers see.
 */
export interface FactTables<Tables extends object = object, Fact = unknown> {
  readonly name: string;
  readonly version: number;
  readonly intake: Intake<string, Fact>;
  /** Records whose events are taken as well. */
  readonly records: readonly AnyAggregate[];
  /** Those of them on which it does not depend what facts count as. */
  readonly aside?: readonly AnyAggregate[];
  /** The statements that make the tables in a schema, which is in quotes, and let a role read them. */
  readonly create: (schema: string, readerRole: string) => readonly string[];
  readonly filler: (session: FillSession) => Filler<Fact>;
  /**
   * The statements that select what the tables in a schema say, by the name of a table: two fillings of one log give
   * the same rows, whatever numbers they have given and wherever their batches were cut. What the tables that readers
   * see, in the schema `shown`, do not have yet because something is left to do may be left out. A table with partitions is compared
   * partition by partition, each of which stands in its place in the statement.
   */
  readonly compared: Readonly<
    Record<string, (schema: string, shown: string, relation: string) => string>
  >;
  /** Their parts, where they can be dropped and filled again. */
  readonly parts?: FactParts<Fact>;
  readonly tables?: Tables;
}

// biome-ignore lint/suspicious/noExplicitAny: lists of them hold every kind of fact.
export type AnyFactTables = FactTables<any, any>;

/** A statement on tables of facts, made with a builder that knows these alone. */
export type FactSelect<Tables extends object, Row> = (
  from: Pick<QueryCreator<Tables>, 'selectFrom' | 'with'>,
) => Selection<Row>;

/** The values that a statement is given each time, by name. */
export type GivenValues = Readonly<Record<string, unknown>>;

/**
 * A statement on tables of facts that is written once and kept prepared in each session: for what is asked again and
 * again with other values, in few shapes. While it is written, `given` holds the places of the values: what
 * depends on a value itself is another statement.
 */
export interface FactStatement<Tables extends object, Given extends GivenValues, Row> {
  readonly tables: FactTables<Tables>;
  readonly write: (
    from: Parameters<FactSelect<Tables, Row>>[0],
    given: Given,
  ) => ReturnType<FactSelect<Tables, Row>>;
}

/** Gives a statement its exact types. */
export const factStatement = <Tables extends object, Given extends GivenValues, Row>(
  tables: FactTables<Tables>,
  write: FactStatement<Tables, Given, Row>['write'],
): FactStatement<Tables, Given, Row> => ({ tables, write });

/** The distance of tables of facts from the end of the log. */
export interface FactProgress {
  /** Position of the last event of the log, of whatever kind. */
  readonly head: string;
  /** Everything up to here is in the tables; the head where they have all. */
  readonly shown: string;
  /** Events of the log that the tables take and do not have yet; each may hold many facts. Counted up to 16. */
  readonly missing: number;
}

/** Reads of facts, for one caller. The tables' row-level security shows the caller's environment alone. */
export interface FactReads {
  /**
   * The rows that a statement selects, once the tables show what the caller has sent before and what it insists
   * on seeing.
   */
  query<Tables extends object, Row>(
    tables: FactTables<Tables>,
    select: FactSelect<Tables, Row>,
  ): Promise<readonly Row[]>;
  /**
   * The same by a statement that was written before, with the values for it. One that reads much may be planned for its
   * values, which takes longer than to plan it once for all of them, and is done in other sessions.
   */
  ask<Tables extends object, Given extends GivenValues, Row>(
    statement: FactStatement<Tables, Given, Row>,
    given: Given,
    planned?: 'once' | 'for these values',
  ): Promise<readonly Row[]>;
  /** Waits as `query` does, and gives a position of the log up to which everything is in the tables. */
  shown<Tables extends object>(tables: FactTables<Tables>): Promise<string>;
  /**
   * The position of the log at which the tables stood when something last came into them that may have changed what facts count as: whoever
   * finds the same before and after reading has read one state. Throws 503 while readers are switched to others.
   */
  changedAt<Tables extends object>(tables: FactTables<Tables>): Promise<string>;
  /** The same as `query` from the tables as they are: nothing is waited for. */
  queryAtOnce<Tables extends object, Row>(
    tables: FactTables<Tables>,
    select: FactSelect<Tables, Row>,
  ): Promise<readonly Row[]>;
  /** The name of the filling that the next read sees. Another name is another filling, and none comes back. */
  filling<Tables extends object>(tables: FactTables<Tables>): string;
  /** The distance of the tables from the end of the log, as it is. Throws 503 where the log cannot be read. */
  progress<Tables extends object>(tables: FactTables<Tables>): Promise<FactProgress>;
}
