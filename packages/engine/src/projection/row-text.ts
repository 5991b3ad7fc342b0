import type { AnyProjection } from '../define/projection.ts';
import { heldColumns, heldText, restWriter } from './held-members.ts';
import {
  arrayText,
  encodeValue,
  joinedJson,
  metadataText,
  type Row,
  stateText,
  statusOf,
} from './row.ts';
import { columnNames, databaseType, fixedColumns } from './table-shape.ts';

/** The text of each column of a row, in the order of `columnNames`; null is SQL's null. */
export type RowTexts = readonly (string | null)[];

/** The way in which the rows of one table become text. */
export interface RowWriter {
  readonly textsOf: (row: Row) => RowTexts;
  /** The parameters of a statement that writes rows: for each column the values of all of them. */
  readonly parametersOf: (rows: readonly RowTexts[]) => string[];
}

type ColumnText = (row: Row) => string | null;

const steadyLength = 64;

/**
 * JSON with spaces behind it, so that its length changes seldom. PostgreSQL writes the length in front of a value:
 * where only the end of a value has changed, its log would hold all of it for that.
 */
const steady = (text: string | null): string | null =>
  text === null ? null : text.padEnd(Math.ceil(text.length / steadyLength) * steadyLength);

/** The columns that every table has, but for the resource, which comes last: it lacks what the others hold. */
const fixedTexts = (table: AnyProjection): Readonly<Record<string, ColumnText>> => ({
  id: ({ id }) => id,
  tenant_id: (row) => row.tenant_id,
  environment_id: (row) => row.environment_id,
  status: statusOf,
  created_at: (row) => row.created_at,
  updated_at: (row) => row.updated_at,
  revision: ({ revision }) => String(revision),
  position: ({ position }) => position,
  state: table.members ? (row) => steady(stateText(row)) : stateText,
  metadata: ({ resource }) => metadataText(resource?.metadata),
});

/** The columns of a table, with the way in which each gets its text. */
function columnTexts(table: AnyProjection): ReadonlyMap<string, ColumnText> {
  const texts = new Map<string, ColumnText>(Object.entries(fixedTexts(table)));
  for (const [name, { type, of }] of Object.entries(table.columns)) {
    texts.set(name, ({ resource, state }) =>
      resource === null ? null : encodeValue(type, of(resource, state)),
    );
  }
  for (const [name, type] of heldColumns(table)) {
    texts.set(name, ({ resource }) => (resource === null ? null : heldText(type, resource[name])));
  }
  return texts;
}

const writers = new WeakMap<AnyProjection, RowWriter>();

/** The writer of a table's rows. What follows from the table alone is found out once. */
export function rowWriter(table: AnyProjection): RowWriter {
  const known = writers.get(table);
  if (known) return known;
  const made = createWriter(table);
  writers.set(table, made);
  return made;
}

function createWriter(table: AnyProjection): RowWriter {
  const names = columnNames(table);
  const known = columnTexts(table);
  const columns = names.map((name) => known.get(name) ?? null);
  const resourceIndex = names.indexOf('resource');
  const restText = restWriter(table, names);
  const types = columnTypesOf(table);
  const joins = names.map((name) => (isJson(types.get(name) ?? '') ? joinedJson : arrayText));
  return {
    textsOf(row) {
      const texts = columns.map((text) => (text === null ? null : text(row)));
      texts[resourceIndex] = row.resource && restText(row.resource, texts);
      return texts;
    },
    parametersOf: (rows) =>
      joins.map((join, index) => join(rows.map((texts) => texts[index] ?? null))),
  };
}

/** The types of all columns by name. */
export const columnTypesOf = (table: AnyProjection): ReadonlyMap<string, string> =>
  new Map([
    ...Object.entries(fixedColumns),
    ...Object.entries(table.columns).map(([name, { type }]) => [name, databaseType(type)] as const),
    ...heldColumns(table).map(([name, type]) => [name, databaseType(type)] as const),
  ]);

export const isJson = (type: string): boolean => type === 'json' || type === 'jsonb';
