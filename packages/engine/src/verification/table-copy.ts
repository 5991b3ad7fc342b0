import type { Connection } from '../database/database.ts';
import type { AnyProjection } from '../define/projection.ts';
import type { Position } from '../log/types.ts';
import { resourceExpression } from '../projection/held-members.ts';
import type { Target } from '../projection/row-store.ts';
import {
  columnNames,
  createScratch,
  inSchema,
  quoted,
  scopeColumn,
} from '../projection/table-shape.ts';
import { type Difference, type RowText, rowDifference } from './row-difference.ts';

/** A table to be compared. */
export interface Compared {
  readonly table: AnyProjection;
  /** The relation that the view of this name should point at, ready for a statement. */
  readonly original: string;
  /** The log up to here is in it. */
  upTo: Position;
}

/** A table beside its copy, a temporary table that the log is folded into. */
export interface Copied extends Compared, Target {
  /** The log up to here is in the copy. */
  reached: Position;
  /** The reason why it cannot be compared, in one sentence. */
  failure: string | null;
}

/** Makes the copies. They are empty, and end with the session. */
export async function createCopies(
  connection: Connection,
  tables: readonly Compared[],
): Promise<readonly Copied[]> {
  const copies: Copied[] = [];
  for (const [index, compared] of tables.entries()) {
    // A definition: the builder knows tables that are there.
    await connection.query(createScratch(compared.table, `verify_${index}`));
    copies.push({ ...compared, relation: quoted(`verify_${index}`), reached: 0n, failure: null });
  }
  return copies;
}

interface ComparedRow {
  readonly scope: string;
  readonly id: string;
  readonly expected: RowText | null;
  readonly actual: RowText | null;
}

const fetched = 100;

/**
 * Goes through the rows that differ in their text, in the order of their keys. Inside a transaction of
 * the caller: it uses a cursor, which the builder has no word for.
 */
export async function* differencesOf(
  connection: Connection,
  copied: Copied,
): AsyncGenerator<Difference, void, undefined> {
  const patient = { timeoutMs: 0 };
  await connection.query(
    `declare differing no scroll cursor for ${differing(copied)}`,
    [],
    patient,
  );
  try {
    for (;;) {
      const next = `fetch ${fetched} from differing`;
      const { rows } = await connection.query<ComparedRow>(next, [], patient);
      if (rows.length === 0) return;
      for (const row of rows) {
        const difference = rowDifference(copied.table, row);
        if (difference) yield difference;
      }
    }
  } finally {
    await connection.query('close differing');
  }
}

/**
 * Matches the derived rows with those that readers see, through the view, as they do: a view that
 * points elsewhere is found as well. The state is not in the view and comes from the table.
 */
function differing({ table, relation, original }: Copied): string {
  const scope = scopeColumn(table);
  const texts = (column: (name: string) => string): string =>
    `array[${columnNames(table)
      .map((name) => `(${column(name)})::text`)
      .join(', ')}]`;
  const expected = texts((name) =>
    name === 'resource' ? resourceExpression(table, 'derived') : `derived.${quoted(name)}`,
  );
  const actual = texts((name) => `${name === 'state' ? 'stored' : 'shown'}.${quoted(name)}`);
  return `
    select coalesce(derived.${scope}, shown.${scope}) as scope,
           coalesce(derived.id, shown.id) as id,
           case when derived.id is not null then ${expected} end as expected,
           case when shown.id is not null then ${actual} end as actual
      from ${relation} as derived
      full outer join (${inSchema(table.name)} as shown left join ${original} as stored
                       on stored.${scope} = shown.${scope} and stored.id = shown.id)
        on derived.${scope} = shown.${scope} and derived.id = shown.id
     where derived.id is null or shown.id is null or ${expected} is distinct from ${actual}
     order by 1, 2`;
}
