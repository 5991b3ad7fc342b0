/** The kinds of cells. Decimals are exact texts, JSON is the text of a value. */
export type ColumnKind = 'text' | 'decimal' | 'integer' | 'boolean' | 'instant' | 'json';

/** A column of an export. */
export interface ExportColumn {
  readonly name: string;
  readonly kind: ColumnKind;
}

/** A value in a column; null where there is none. Decimals, instants and JSON are texts. */
export type Cell = string | number | boolean | null;
export type ExportRow = readonly Cell[];

/** Columns of one kind. */
export const columnsOf = (kind: ColumnKind, ...names: readonly string[]): readonly ExportColumn[] =>
  names.map((name) => ({ name, kind }));

/** A figure that a manifest adds up, by currency (D80). */
export interface SummedColumn {
  /** Place of the figure in a row. */
  readonly place: number;
  readonly name: string;
  /** Place of its currency. */
  readonly currency: number;
}

/** The columns of a list that are added up, by the currency that stands in another. */
export function summedColumns(
  columns: readonly ExportColumn[],
  currency: string,
  ...names: readonly string[]
): readonly SummedColumn[] {
  const placeOf = (name: string): number => columns.findIndex((column) => column.name === name);
  return names.map((name) => ({ name, place: placeOf(name), currency: placeOf(currency) }));
}

/** The cells of a row whose members are named as the columns are. */
export const cellsOf = (columns: readonly ExportColumn[], members: object): Cell[] =>
  columns.map(({ name, kind }) => {
    const value = (members as Readonly<Record<string, unknown>>)[name] ?? null;
    return kind === 'json' && value !== null ? JSON.stringify(value) : (value as Cell);
  });
