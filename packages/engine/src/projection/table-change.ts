import { setImmediate as nextTurn } from 'node:timers/promises';
import { whenAllEnded } from '../consume/run-forever.ts';
import type { Connection } from '../database/database.ts';
import { type Batch, foldSteps, planSteps, type Rows, type Step } from './fold.ts';
import { fitting, type Row, type RowPlace } from './row.ts';
import {
  loadRows,
  type RowCache,
  type RowStatement,
  removeRows,
  rowStatements,
  saveRows,
  type Target,
  type Weighed,
} from './row-store.ts';

/** A session, and the rows that it knows. */
export interface BatchContext {
  readonly connection: Connection;
  readonly cache: RowCache;
}

/** The events of a batch for one table, with the rows that they touch, as far as they are known. */
export interface TablePlan {
  readonly target: Target;
  readonly steps: readonly Step[];
  readonly known: ReadonlyMap<string, Row>;
  /** The other rows, which are being read. */
  readonly loading: Promise<readonly Row[]>;
}

interface PlanOptions {
  /** True when rows that the projection says to be new are not looked for. */
  readonly trusts: boolean;
  /** Rows as a batch before leaves them that may not be committed yet; null where it removes one. */
  readonly ahead?: Rows | undefined;
}

/** Plans a batch for one table, and sends for the rows that nobody knows. Throws `Unfit` when the table cannot take it. */
export function planTable(
  { connection, cache }: BatchContext,
  target: Target,
  batch: Batch,
  { trusts, ahead }: PlanOptions,
): TablePlan {
  const { table, relation } = target;
  const steps = fitting(() => planSteps(table, batch.eventsFor(table)));
  const known = new Map<string, Row>();
  const missing = new Map<string, RowPlace>();
  const fresh = new Set<string>();
  for (const { places, added } of steps) {
    if (trusts) for (const { key } of added) fresh.add(key);
    for (const place of places) {
      if (fresh.has(place.key)) continue;
      const left = ahead?.get(place.key);
      const row = left === undefined ? cache.get(relation, place.key) : left;
      if (row) known.set(place.key, row);
      else if (left === undefined) missing.set(place.key, place);
    }
  }
  return { target, steps, known, loading: loadRows(connection, target, [...missing.values()]) };
}

/** The rows of one table as a batch leaves them, before any of it is written. */
export interface TableChange {
  readonly target: Target;
  /** The rows that it touches, as they are after it; null where there is none. */
  readonly changed: Rows;
  readonly added: readonly Row[];
  readonly updated: readonly Row[];
  readonly removed: readonly Row[];
  /** The statements that write the rows, where these were made before their turn. */
  readonly statements?: readonly RowStatement[];
}

/** Folds what was planned, given the rows that were read for it. Throws `Unfit` when the table cannot take it. */
export function foldPlan({ target, steps, known }: TablePlan, read: readonly Row[]): TableChange {
  const before = new Map(known);
  for (const row of read) before.set(row.key, row);
  const changed = fitting(() => foldSteps(target.table, steps, (key) => before.get(key) ?? null));
  const kept = [...changed.values()].filter((row) => row !== null);
  return {
    target,
    changed,
    added: kept.filter(({ key }) => !before.has(key)),
    updated: kept.filter(({ key }) => before.has(key)),
    removed: [...before.values()].filter(({ key }) => changed.get(key) === null),
  };
}

/** Rows to put into the cache, or to take out of it, once the transaction has been committed. */
export interface Pending {
  readonly relation: string;
  readonly saved: readonly Weighed[];
  readonly removed: readonly string[];
}

function* statementsOf({ target, added, updated }: TableChange): Generator<RowStatement> {
  yield* rowStatements(target, added, 'insert');
  yield* rowStatements(target, updated, 'update');
}

/**
 * Makes the statements of a change, while something else is being written: after each, what was sent goes on its way. Throws
 * `Unfit` when a row does not fit its columns.
 */
export async function madeReady(change: TableChange): Promise<TableChange> {
  const statements: RowStatement[] = [];
  for (const statement of statementsOf(change)) {
    statements.push(statement);
    await nextTurn();
  }
  return { ...change, statements };
}

/** One write for all that a batch makes of a table. Throws `Unfit` when a row does not fit its columns. */
export async function writeTable(connection: Connection, change: TableChange): Promise<Pending> {
  const { target, removed, statements = statementsOf(change) } = change;
  const { table, relation } = target;
  const writing = saveRows(connection, statements);
  await whenAllEnded([writing, removeRows(connection, target, removed)]);
  // Rows that come to rest would only burden the collector.
  const saved = (await writing).filter(({ row }) => !table.rests?.(row.state));
  return { relation, saved, removed: removed.map(({ key }) => key) };
}

/** Puts the rows of a transaction that was committed into the cache. */
export function remember(cache: RowCache, pending: readonly Pending[]): void {
  for (const { relation, saved, removed } of pending) {
    for (const weighed of saved) cache.set(relation, weighed.row.key, weighed);
    for (const key of removed) cache.remove(relation, key);
  }
}
