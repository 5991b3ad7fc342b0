import { LRUCache } from 'lru-cache';
import { whenAllEnded } from '../consume/run-forever.ts';
import type { Connection } from '../database/database.ts';
import type { AnyProjection } from '../define/projection.ts';
import { resourceExpression } from './held-members.ts';
import {
  arrayText,
  fitting,
  jsonSeparator,
  placeKey,
  type Row,
  type RowPlace,
  wholeState,
} from './row.ts';
import { columnTypesOf, isJson, type RowTexts, type RowWriter, rowWriter } from './row-text.ts';
import { columnNames, quoted, scopeColumn } from './table-shape.ts';

/** A read table and the relation that holds its rows. */
export interface Target {
  readonly table: AnyProjection;
  /** Quoted, ready for a statement. */
  readonly relation: string;
}

/** A row as Postgres answers it: JSON and numbers as text, and no state where it is the resource. */
type StoredRow = Omit<Row, 'scope' | 'key' | 'revision' | 'state' | 'resource'> & {
  readonly revision: string;
  readonly state: string | null;
  readonly resource: string | null;
};

/** A row that was written, with the length of its texts, which is its weight in memory. */
export interface Weighed {
  readonly row: Row;
  readonly weight: number;
}

/** Characters of text that the cache holds by default; in memory some three bytes each. */
const defaultWeightMaximum = 32_000_000;

/** The weight of a row beside its JSON: object, ids, stamps. */
const rowWeight = 400;

/**
 * The rows that were read or written last, so that a busy row is not read again for each batch. It
 * holds committed rows only, and it may be cleared at any time.
 */
export class RowCache {
  readonly #rows: LRUCache<string, Row>;

  constructor(weightMaximum = defaultWeightMaximum) {
    this.#rows = new LRUCache({ maxSize: weightMaximum, maxEntrySize: weightMaximum });
  }

  get(relation: string, key: string): Row | null {
    return this.#rows.get(`${relation}\n${key}`) ?? null;
  }

  set(relation: string, key: string, { row, weight }: Weighed): void {
    this.#rows.set(`${relation}\n${key}`, row, { size: weight + rowWeight });
  }

  remove(relation: string, key: string): void {
    this.#rows.delete(`${relation}\n${key}`);
  }

  clear(): void {
    this.#rows.clear();
  }
}

/*
 * These statements are text: relation and columns follow from a projection at run time, and many rows
 * travel as one parameter per column.
 */

const placeParameters = (places: readonly RowPlace[]): string[] => [
  arrayText(places.map(({ scope }) => scope)),
  arrayText(places.map(({ id }) => id)),
];

/** Reads the rows at these places, in one statement, or none for no place. Places without a row are left out. */
export async function loadRows(
  connection: Connection,
  { table, relation }: Target,
  places: readonly RowPlace[],
): Promise<readonly Row[]> {
  if (places.length === 0) return [];
  const scope = scopeColumn(table);
  // Lateral with a limit: each place is looked up by its key, however many the planner expects. Not
  // prepared: a plan that is made while the table is empty takes any index for as good as the key's, and
  // goes on reading whole environments when the table is large.
  const { rows } = await connection.query<StoredRow>(
    `select found.* from unnest($1::text[], $2::text[]) as place(scope, id),
       lateral (select id, tenant_id, environment_id, created_at, updated_at, revision, position,
                       state, ${resourceExpression(table)} as resource
                  from ${relation} as stored
                 where stored.${scope} = place.scope and stored.id = place.id limit 1) as found`,
    placeParameters(places),
  );
  return rows.map((stored) => rowOf(stored, scope));
}

function rowOf(stored: StoredRow, scope: 'tenant_id' | 'environment_id'): Row {
  const resource = stored.resource === null ? null : JSON.parse(stored.resource);
  const place = { scope: stored[scope] ?? '', id: stored.id };
  return {
    ...stored,
    ...place,
    key: placeKey(place),
    state: wholeState(stored.state, resource),
    resource,
    revision: Number(stored.revision),
  };
}

/** The statements that write rows of each target, which are long. */
const writeTexts = { insert: new WeakMap<Target, string>(), update: new WeakMap<Target, string>() };

function knownWriteText(target: Target, kind: 'insert' | 'update'): string {
  const known = writeTexts[kind].get(target);
  if (known !== undefined) return known;
  const text = writeText(target, kind);
  writeTexts[kind].set(target, text);
  return text;
}

/**
 * The statement that writes many rows of a table: one parameter per column. JSON travels as one
 * text per column; lists travel as text, for an array of arrays has no rows of its own.
 */
function writeText({ table, relation }: Target, kind: 'insert' | 'update'): string {
  const names = columnNames(table);
  const types = columnTypesOf(table);
  const typeOf = (name: string): string => types.get(name) ?? 'text';
  const identity = [scopeColumn(table), 'id'] as const;
  const parameters = names.map((name, index) => {
    const type = typeOf(name);
    if (isJson(type)) return `string_to_array($${index + 1}::text, e'${separatorEscape}', '')`;
    return type.endsWith('[]') ? `$${index + 1}::text[]` : `$${index + 1}::${type}[]`;
  });
  const values = names.map((name) => {
    const type = typeOf(name);
    return isJson(type) || type.endsWith('[]') ? `${quoted(name)}::${type}` : quoted(name);
  });
  const updates = names
    .filter((name) => !(identity as readonly string[]).includes(name))
    .map((name) => `${quoted(name)} = excluded.${quoted(name)}`);
  const insert = `insert into ${relation} (${names.map(quoted).join(', ')})
    select ${values.join(', ')}
      from unnest(${parameters.join(', ')}) as given (${names.map(quoted).join(', ')})`;
  if (kind === 'insert') return insert;
  // Not `update from`, whose plan may read the whole table to find a handful of rows.
  return `${insert} on conflict (${identity.join(', ')}) do update set ${updates.join(', ')}`;
}

const separatorEscape = `\\x${jsonSeparator.charCodeAt(0).toString(16)}`;

/** A row as it is written. */
interface Written extends Weighed {
  readonly texts: RowTexts;
}

function written(textsOf: RowWriter['textsOf'], row: Row): Written {
  const texts = textsOf(row);
  let weight = 0;
  for (const content of texts) weight += content?.length ?? 0;
  return { row, texts, weight };
}

/**
 * Characters of text after which a statement is sent. Postgres writes its rows while those of the next one are made into
 * text, which is as much work.
 */
const statementWeight = 500_000;

/** The rows as they are stored, in portions of one statement each, made as they are taken. Throws as `rowStatements` does. */
function* portions({ textsOf }: RowWriter, rows: readonly Row[]): Generator<readonly Written[]> {
  let portion: Written[] = [];
  let weight = 0;
  for (const row of rows) {
    const stored = fitting(() => written(textsOf, row));
    portion.push(stored);
    weight += stored.weight;
    if (weight < statementWeight) continue;
    yield portion;
    portion = [];
    weight = 0;
  }
  if (portion.length > 0) yield portion;
}

/** A statement that writes rows of a table. */
export interface RowStatement {
  readonly text: string;
  readonly parameters: readonly unknown[];
  readonly saved: readonly Weighed[];
}

/**
 * The statements that write rows, made as they are taken: new ones (`insert`, which fails if they are not) or changed ones
 * (`update`). Throws `Unfit` when a row does not fit its columns.
 */
export function* rowStatements(
  target: Target,
  rows: readonly Row[],
  kind: 'insert' | 'update',
): Generator<RowStatement> {
  if (rows.length === 0) return;
  const writer = rowWriter(target.table);
  for (const portion of portions(writer, rows)) {
    const parameters = writer.parametersOf(portion.map(({ texts }) => texts));
    const saved = portion.map(({ row, weight }) => ({ row, weight }));
    yield { text: knownWriteText(target, kind), parameters, saved };
  }
}

/**
 * Writes rows by statements that are sent as they are made. Gives each row with its weight. Nothing is under way any more
 * when it ends.
 */
export async function saveRows(
  connection: Connection,
  statements: Iterable<RowStatement>,
): Promise<readonly Weighed[]> {
  const saved: Weighed[] = [];
  const sent: Promise<unknown>[] = [];
  const send = async (): Promise<void> => {
    for (const { text, parameters, saved: rows } of statements) {
      sent.push(connection.query(text, parameters, { prepared: true }));
      for (const row of rows) saved.push(row);
    }
  };
  const sending = send();
  await whenAllEnded([sending, ...sent]);
  return saved;
}

/** Removes the rows at these places, in one statement, or none for no place. */
export async function removeRows(
  connection: Connection,
  { table, relation }: Target,
  places: readonly RowPlace[],
): Promise<void> {
  if (places.length === 0) return;
  await connection.query(
    `delete from ${relation}
      where (${scopeColumn(table)}, id) in (select * from unnest($1::text[], $2::text[]))`,
    placeParameters(places),
    { prepared: true },
  );
}
