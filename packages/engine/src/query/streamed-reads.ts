import type { QueryCreator } from 'kysely';
import { type Connection, connect } from '../database/database.ts';
import { anyStatement } from '../database/statements.ts';
import type { Place } from '../define/context.ts';
import type { FactSelect, FactTables } from '../define/intake.ts';
import type { AnyProjection } from '../define/projection.ts';
import type { Portions, StreamedReads } from '../define/streamed-reads.ts';
import type { Selection, Selects } from '../define/tables.ts';
import { readerRole, scopeSettings } from '../projection/table-shape.ts';
import { firstPortion, nextPortion } from './portion-size.ts';
import { narrowed } from './reader.ts';

/** Sorting many rows takes PostgreSQL a while, before the first of them comes. */
const fetchMilliseconds = 30 * 60_000;

/** Reads that see one state of the database, with a session of their own. */
export interface OpenReads extends StreamedReads {
  close(): Promise<void>;
}

interface StreamedReadsOptions {
  readonly url: string;
  readonly place: Place;
  /** The schema that tables of facts are in; null while there is none. */
  readonly schemaOf: (facts: string) => string | null;
}

/**
 * Opens reads of whole tables for a tenant and environment: in one transaction, so that all of them see the same, as the
 * reader role, so that row-level security shows no row of anybody else. Portion after portion, however many rows there are.
 */
export async function openStreamedReads(options: StreamedReadsOptions): Promise<OpenReads> {
  const connection = await connect(options.url, { application: 'counterfoil exporter' });
  try {
    await enter(connection, options.place);
  } catch (error) {
    await connection.close();
    throw error;
  }
  let cursors = 0;
  const portions = <Row>(selection: Selection<Row>): Portions<Row> => {
    cursors += 1;
    return fetched<Row>(connection, `rows_${cursors}`, selection);
  };
  return {
    rows: <const Tables extends AnyProjection, Row>(
      tables: readonly Tables[],
      select: (from: Selects<Tables>) => Selection<Row>,
    ) => portions(select(narrowed(tables, options.place))),
    facts: <Tables extends object, Row>(
      tables: FactTables<Tables>,
      select: FactSelect<Tables, Row>,
    ) => {
      const schema = options.schemaOf(tables.name);
      if (schema === null) throw new Error(`There are no tables of ${tables.name} yet.`);
      const builder = anyStatement.withSchema(schema) as unknown as QueryCreator<Tables>;
      return portions(select(builder));
    },
    close: () => connection.close(),
  };
}

async function enter(connection: Connection, { tenantId, environmentId }: Place): Promise<void> {
  await connection.query('begin transaction isolation level repeatable read, read only');
  await connection.query(
    `select set_config('role', '${readerRole}', true),
            set_config('${scopeSettings.tenant}', $1, true),
            set_config('${scopeSettings.environment}', $2, true),
            set_config('cursor_tuple_fraction', '1', true)`,
    [tenantId, environmentId],
  );
}

/** Fetches portion after portion; the next one is on its way while one is worked on. */
async function* fetched<Row>(
  connection: Connection,
  cursor: string,
  selection: Selection<Row>,
): Portions<Row> {
  const { sql: text, parameters } = selection.compile();
  await connection.query(`declare ${cursor} no scroll cursor for ${text}`, [...parameters]);
  const fetch = (count: number) => {
    const rows = connection.query<Row>(`fetch ${count} from ${cursor}`, [], {
      timeoutMs: fetchMilliseconds,
    });
    // Whoever stops in between does not wait for it.
    rows.catch(() => undefined);
    return rows;
  };
  for (let count = firstPortion, next = fetch(count); ; ) {
    const { rows } = await next;
    if (rows.length === 0) return;
    count = nextPortion(count, rows);
    next = fetch(count);
    yield rows;
  }
}
