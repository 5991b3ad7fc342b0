import { whenAllEnded } from '../consume/run-forever.ts';
import { type Connection, transaction } from '../database/database.ts';
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
  viewQuery,
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

/** Settings of a session that holds copies. What they hold need not outlive anything, and is large. */
const copySettings = { synchronous_commit: 'off', temp_buffers: '64MB', work_mem: '32MB' } as const;

/** Makes the copies. They are empty, and end with the session. */
export async function createCopies(
  connection: Connection,
  tables: readonly Compared[],
): Promise<readonly Copied[]> {
  const copies = tables.map((compared, index) => {
    const relation = quoted(`verify_${index}`);
    return { ...compared, relation, reached: 0n, failure: null };
  });
  // Definitions: the builder knows tables that are there. One round trip for all of them.
  await transaction(connection, () =>
    whenAllEnded([
      ...Object.entries(copySettings).map(([name, value]) =>
        connection.query(`set ${name} = '${value}'`),
      ),
      ...copies.map(({ table }, index) =>
        connection.query(createScratch(table, `verify_${index}`)),
      ),
    ]),
  );
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
 * Goes through the rows that differ, in the order of their keys. Inside a transaction of the caller, who has read the
 * view in it, so that nobody replaces it: it uses a cursor, which the builder has no word for.
 */
export async function* differencesOf(
  connection: Connection,
  copied: Copied,
): AsyncGenerator<Difference, void, undefined> {
  const query = (await isShownAsStored(connection, copied))
    ? differingInTable(copied)
    : differingInView(copied);
  const patient = { timeoutMs: 0 };
  await connection.query(`declare differing no scroll cursor for ${query}`, [], patient);
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
 * True when the view that readers use is, word for word, the one that this program makes over such a table, of columns
 * with these types: then what it shows of a row follows from the bytes of that row. PostgreSQL writes both down.
 */
async function isShownAsStored(
  connection: Connection,
  { table, original, relation }: Copied,
): Promise<boolean> {
  // One round trip, in which the view is gone again: nobody else may see what keeps a table from being dropped.
  const made = connection.query(
    `create temporary view verify_view as ${viewQuery(table, original)}`,
  );
  const asked = connection.query<{ readonly same: boolean }>(
    `select pg_get_viewdef($1::regclass) = pg_get_viewdef('pg_temp.verify_view'::regclass)
        and ${columnsOf('$2')} = ${columnsOf('$3')} as same`,
    [inSchema(table.name), original, relation],
  );
  const dropped = connection.query('drop view pg_temp.verify_view');
  await whenAllEnded([made, asked, dropped]);
  return (await asked).rows[0]?.same === true;
}

const columnsOf = (relation: string): string =>
  `(select array_agg(row(attname, atttypid)::text order by attname) from pg_attribute
     where attrelid = ${relation}::regclass and attnum > 0 and not attisdropped)`;

/**
 * Matches the derived rows with those that readers see, through the view, as they do: a view that
 * points elsewhere is found as well. The state is not in the view and comes from the table.
 */
function differingInView({ table, relation, original }: Copied): string {
  const scope = scopeColumn(table);
  const actual = (name: string): string =>
    `${name === 'state' ? 'stored' : 'shown'}.${quoted(name)}`;
  const shown = `(${inSchema(table.name)} as shown left join ${original} as stored
                       on stored.${scope} = shown.${scope} and stored.id = shown.id)`;
  return differing({ table, relation, shown, actual });
}

/**
 * The same where the view shows what is stored. Rows that are stored alike, byte for byte, are shown alike, and
 * resources need not be built again to see that.
 */
function differingInTable({ table, relation, original }: Copied): string {
  const actual = (name: string): string => columnOf(table, name, 'shown');
  const bytes = (row: string): string =>
    `row(${columnNames(table)
      .map((name) => `${row}.${quoted(name)}`)
      .join(', ')})::record`;
  const changed = `${bytes('derived')} *<> ${bytes('shown')}`;
  return differing({ table, relation, shown: `${original} as shown`, actual, changed });
}

/** A column as readers see it, of a row that holds nothing twice. */
const columnOf = (table: AnyProjection, name: string, row: string): string =>
  name === 'resource' ? resourceExpression(table, row) : `${row}.${quoted(name)}`;

interface Matched extends Target {
  /** The rows that are there, by the name of `shown`, and the expression of each of their columns. */
  readonly shown: string;
  readonly actual: (column: string) => string;
  /** A condition without which a row is known to be the same. */
  readonly changed?: string;
}

function differing({ table, relation, shown, actual, changed = 'true' }: Matched): string {
  const scope = scopeColumn(table);
  const texts = (column: (name: string) => string): string =>
    `array[${columnNames(table)
      .map((name) => `(${column(name)})::text`)
      .join(', ')}]`;
  const expected = texts((name) => columnOf(table, name, 'derived'));
  const found = texts(actual);
  return `
    select coalesce(derived.${scope}, shown.${scope}) as scope,
           coalesce(derived.id, shown.id) as id,
           case when derived.id is not null then ${expected} end as expected,
           case when shown.id is not null then ${found} end as actual
      from ${relation} as derived
      full outer join ${shown}
        on derived.${scope} = shown.${scope} and derived.id = shown.id
     where derived.id is null or shown.id is null
        or case when ${changed} then ${expected} is distinct from ${found} else false end
     order by 1, 2`;
}
