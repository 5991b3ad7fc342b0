import type { AnyReadTable } from '../define/read-table.ts';
import type { Connection } from './database.ts';
import {
  arrayText,
  columnNames,
  type EncodedRow,
  encodeRow,
  placeKey,
  type Row,
  type RowPlace,
} from './row.ts';
import { databaseType, fixedColumns, quoted, scopeColumn } from './table-shape.ts';

/** A read table and the relation that holds its rows. */
export interface Target {
  readonly table: AnyReadTable;
  /** Quoted, ready for a statement. */
  readonly relation: string;
}

interface StoredRow {
  readonly id: string;
  readonly tenant_id: string;
  readonly environment_id: string | null;
  readonly created_at: string;
  readonly updated_at: string;
  readonly revision: string;
  readonly position: string;
  readonly state: string | null;
  readonly resource: string | null;
}

/** A row that was read or written, with the length of its JSON: what it weighs in memory. */
export interface Weighed {
  readonly row: Row;
  readonly weight: number;
}

/** Reads the rows at these places, in one statement. Places without a row are left out. */
export async function loadRows(
  connection: Connection,
  { table, relation }: Target,
  places: readonly RowPlace[],
): Promise<Map<string, Weighed>> {
  const scope = scopeColumn(table);
  const { rows } = await connection.query<StoredRow>(
    `select id, tenant_id, environment_id, created_at, updated_at, revision, position, state, resource
       from ${relation}
      where (${scope}, id) in (select * from unnest($1::text[], $2::text[]))`,
    [arrayText(places.map((place) => place.scope)), arrayText(places.map((place) => place.id))],
    { name: statementName('load', relation) },
  );
  return new Map(
    rows.map((stored) => {
      const row = rowOf(stored, scope);
      return [placeKey(row), { row, weight: (stored.state ?? '').length + lengthOf(stored) }];
    }),
  );
}

const lengthOf = ({ resource }: StoredRow): number => resource?.length ?? 0;

function rowOf(stored: StoredRow, scope: 'tenant_id' | 'environment_id'): Row {
  const resource = stored.resource === null ? null : JSON.parse(stored.resource);
  return {
    scope: stored[scope] ?? '',
    id: stored.id,
    tenantId: stored.tenant_id,
    environmentId: stored.environment_id,
    state: stored.state === null ? resource : JSON.parse(stored.state),
    resource,
    createdAt: stored.created_at,
    updatedAt: stored.updated_at,
    revision: Number(stored.revision),
    position: stored.position,
  };
}

// One prepared statement per relation. Postgres cuts names at 63 bytes, relations are shorter.
const statementName = (verb: string, relation: string): string =>
  `${verb}_${relation.replaceAll(/[".]|counterfoil/g, '')}`;

const columnTypeOf = (table: AnyReadTable, column: string): string =>
  column in fixedColumns
    ? fixedColumns[column as keyof typeof fixedColumns]
    : databaseType(table.columns[column]?.type ?? 'text');

/** The statement that writes many rows of a table: one array parameter per column. */
function upsertText({ table, relation }: Target): string {
  const names = columnNames(table);
  const identity = [scopeColumn(table), 'id'] as const;
  const isArray = (name: string): boolean => columnTypeOf(table, name).endsWith('[]');
  // An array of arrays has no rows of its own, so lists travel as text.
  const parameters = names.map((name, index) =>
    isArray(name) ? `$${index + 1}::text[]` : `$${index + 1}::${columnTypeOf(table, name)}[]`,
  );
  const values = names.map((name) =>
    isArray(name) ? `${quoted(name)}::${columnTypeOf(table, name)}` : quoted(name),
  );
  const updates = names
    .filter((name) => !(identity as readonly string[]).includes(name))
    .map((name) => `${quoted(name)} = excluded.${quoted(name)}`);
  return `insert into ${relation} (${names.map(quoted).join(', ')})
    select ${values.join(', ')}
      from unnest(${parameters.join(', ')}) as given (${names.map(quoted).join(', ')})
    on conflict (${identity.join(', ')}) do update set ${updates.join(', ')}`;
}

/** A row that cannot be written: a column or the JSON of it is not what it is declared to be. */
export class UnfitRow extends Error {
  constructor(message: string, options: ErrorOptions) {
    super(message, options);
    this.name = 'UnfitRow';
  }
}

function encoded(table: AnyReadTable, row: Row): EncodedRow {
  try {
    return encodeRow(table, row);
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    throw new UnfitRow(`row ${row.id} of ${table.name}: ${cause}`, { cause: error });
  }
}

/** Bounds the size of one statement; larger changes go out as several. */
const statementWeightMaximum = 8_000_000;

/**
 * Writes rows, new or changed. Gives each with its weight. Throws `UnfitRow` when a row does not
 * fit its columns, before anything has been sent.
 */
export async function saveRows(
  connection: Connection,
  target: Target,
  rows: readonly Row[],
): Promise<Weighed[]> {
  const columns: (string | null)[][] = columnNames(target.table).map(() => []);
  const weighed: Weighed[] = [];
  const texts = rows.map((row) => encoded(target.table, row));
  let statementWeight = 0;
  const flush = async () => {
    await connection.query(upsertText(target), columns.map(arrayText), {
      name: statementName('save', target.relation),
    });
    for (const column of columns) column.length = 0;
    statementWeight = 0;
  };
  for (const [index, row] of rows.entries()) {
    const values = texts[index] ?? [];
    let weight = 0;
    for (const [place, value] of values.entries()) {
      columns[place]?.push(value);
      weight += value?.length ?? 0;
    }
    weighed.push({ row, weight });
    statementWeight += weight;
    if (statementWeight >= statementWeightMaximum) await flush();
  }
  if (statementWeight > 0) await flush();
  return weighed;
}

/** Removes the rows at these places, in one statement. */
export async function removeRows(
  connection: Connection,
  { table, relation }: Target,
  places: readonly RowPlace[],
): Promise<void> {
  await connection.query(
    `delete from ${relation}
      where (${scopeColumn(table)}, id) in (select * from unnest($1::text[], $2::text[]))`,
    [arrayText(places.map((place) => place.scope)), arrayText(places.map((place) => place.id))],
    { name: statementName('remove', relation) },
  );
}
