import type { Connection } from '../database/database.ts';
import type { AnyProjection } from '../define/projection.ts';
import type { Position, StoredEvent } from '../log/types.ts';
import { Batch, foldSteps, planSteps } from '../projection/fold.ts';
import { arrayText, placeKey, type Row } from '../projection/row.ts';
import { inSchema, scopeColumn } from '../projection/table-shape.ts';
import { type RowText, sameRow } from './row-difference.ts';
import { expectedTexts, shownTexts } from './verify-text.ts';

/** A table to be compared, as it is in the snapshot. */
export interface Compared {
  readonly table: AnyProjection;
  /** The relation that the view of this name should point at, ready for a statement. */
  readonly original: string;
  /** The log up to here is in it. */
  readonly upTo: Position;
}

/** A table with the rows that the log says it has and that were not yet found in it. */
interface Held extends Compared {
  /** By key; null where there must be no row. */
  readonly rows: Map<string, Row | null>;
  /** Rows that were found as they should be, and forgotten. */
  found: number;
  /** False once something was not as expected, for whatever reason. */
  isSure: boolean;
  /** Ends when the rows that changed last have been looked up. */
  lookedUp: Promise<void>;
}

/** Rows of a table that may wait in memory by default: those that an event is still to change. */
const heldMaximumDefault = 100_000;
/** Rows that are looked up at once, at most. */
const lookupMaximum = 2_000;

/**
 * Folds the log in memory and looks for each row among those that readers see. It knows one answer
 * for certain: that a table is what the log says. A row that was found is forgotten, so that memory
 * stays bounded; should an event change it later, it is folded from nothing, ends at another
 * position than the row that was found, and is found no more. A row that is not as expected, or too
 * many rows to hold, leave the table unsure, and the exact comparison has to decide.
 */
export class MemoryComparison {
  readonly #connection: Connection;
  readonly #tables: readonly Held[];
  readonly #heldMaximum: number;

  constructor(
    connection: Connection,
    tables: readonly Compared[],
    heldMaximum = heldMaximumDefault,
  ) {
    this.#connection = connection;
    this.#heldMaximum = heldMaximum;
    this.#tables = tables.map((table) => ({
      ...table,
      rows: new Map(),
      found: 0,
      isSure: true,
      lookedUp: Promise.resolve(),
    }));
  }

  /** Takes the next events of the log, of any category, in order. */
  async take(events: readonly StoredEvent[]): Promise<void> {
    const whole = new Batch(events);
    for (const held of this.#tables) {
      await held.lookedUp;
      if (held.rows.size > this.#heldMaximum) await this.#makeRoom(held);
      if (!held.isSure) continue;
      const isBeyond = (events.at(-1)?.position ?? 0n) > held.upTo;
      const own = events.filter(({ position }) => position <= held.upTo);
      const changed = fold(held, isBeyond ? new Batch(own) : whole);
      // Goes on while the next events are read.
      held.lookedUp = this.#settle(held, changed);
      held.lookedUp.catch(() => undefined);
    }
  }

  /** Looks up all that is left; returns the tables that are not certain to be what the log says. */
  async finish(): Promise<readonly Compared[]> {
    for (const held of this.#tables) {
      await held.lookedUp;
      if (!held.isSure) continue;
      await this.#settle(held, [...held.rows.keys()]);
      const isComplete = held.rows.size === 0;
      held.isSure = isComplete && held.found === (await countRows(this.#connection, held));
    }
    return this.#tables.filter(({ isSure }) => !isSure);
  }

  /** Looks again for all rows, and gives the table up when most of them are still to change. */
  async #makeRoom(held: Held): Promise<void> {
    await this.#settle(held, [...held.rows.keys()]);
    if (held.rows.size > this.#heldMaximum / 2) giveUp(held);
  }

  async #settle(held: Held, keys: readonly string[]): Promise<void> {
    let next = this.#lookUp(held, keys.slice(0, lookupMaximum));
    for (let start = 0; start < keys.length; start += lookupMaximum) {
      const shown = await next;
      // Postgres looks for the next rows while these are compared.
      const end = start + lookupMaximum;
      next = this.#lookUp(held, keys.slice(end, end + lookupMaximum));
      compareRows(held, keys.slice(start, end), shown);
    }
    await next;
  }

  async #lookUp(held: Held, keys: readonly string[]): Promise<readonly ShownRow[]> {
    if (keys.length === 0) return [];
    const places = keys.map((key) => key.split('\n', 2));
    const [scopes, ids] = [0, 1].map((part) => arrayText(places.map((place) => place[part] ?? '')));
    const positions = arrayText(keys.map((key) => held.rows.get(key)?.position ?? null));
    const values = [scopes, ids, positions];
    const { rows } = await this.#connection.query<ShownRow>(lookupText(held), values);
    return rows;
  }
}

/** Folds events onto the rows; returns the keys of those that changed. */
function fold(held: Held, batch: Batch): readonly string[] {
  const { table, rows } = held;
  try {
    const steps = planSteps(table, batch.eventsFor(table));
    const changed = foldSteps(table, steps, (key) => rows.get(key) ?? null);
    for (const [key, row] of changed) rows.set(key, row);
    return [...changed.keys()];
  } catch {
    giveUp(held);
    return [];
  }
}

function giveUp(held: Held): void {
  held.isSure = false;
  held.rows.clear();
}

/** A row as readers see it: where it is, and then the text of each column. */
type ShownRow = Readonly<Record<string, string | null>>;

/**
 * Through the view, as readers see it, so that a view that points elsewhere is found as well. A row
 * that has another position is not what it should be yet, and stays where it is; where there must
 * be no row (its position is null), any row is given.
 */
function lookupText({ table, original }: Held): string {
  const scope = scopeColumn(table);
  const texts = shownTexts(table, 'shown', 'stored').map((text, index) => `${text} as c${index}`);
  return `
    select ${texts.join(', ')}
      from unnest($1::text[], $2::text[], $3::bigint[]) as wanted (scope, id, position)
      join ${inSchema(table.name)} as shown on shown.${scope} = wanted.scope and shown.id = wanted.id
       and shown.position = coalesce(wanted.position, shown.position)
      left join ${original} as stored on stored.${scope} = shown.${scope} and stored.id = shown.id`;
}

function compareRows(held: Held, keys: readonly string[], shown: readonly ShownRow[]): void {
  const { table, rows } = held;
  const found = new Map<string, RowText>();
  const scopeIndex = scopeColumn(table) === 'tenant_id' ? 1 : 2;
  for (const row of shown) {
    const texts = Object.values(row);
    const key = placeKey({ scope: texts[scopeIndex] ?? '', id: texts[0] ?? '' });
    // A key that is shown twice is not as expected, whatever the rows say.
    found.set(key, found.has(key) ? [] : texts);
  }
  for (const key of keys) {
    const row = rows.get(key) ?? null;
    const texts = found.get(key);
    const isExpected = row === null ? !texts : texts !== undefined && isShown(table, row, texts);
    if (!isExpected) continue;
    rows.delete(key);
    if (row !== null) held.found += 1;
  }
}

function isShown(table: AnyProjection, row: Row, texts: RowText): boolean {
  try {
    return sameRow(table, expectedTexts(table, row), texts);
  } catch {
    // A value that does not fit its column cannot be in it.
    return false;
  }
}

/** The number of rows that readers see. */
export async function countRows(
  connection: Connection,
  { table }: Pick<Compared, 'table'>,
): Promise<number> {
  const { rows } = await connection.query<{ count: string }>(
    `select count(*) from ${inSchema(table.name)}`,
  );
  return Number(rows[0]?.count);
}
