import type { FileType } from '../task/values.ts';
import { CsvReader } from './csv.ts';
import type { FileRow, RowReader } from './file-row.ts';
import { JsonListReader, LineReader } from './json-rows.ts';

/** Characters that are read without a pause, so that others get on meanwhile. */
const charactersAtOnce = 64 * 1024;

/**
 * The rows of a file, a few at a time, in their order. CSV has a header with names of fields; a name with dots leads into
 * lists and objects (`metadata.tier`, `tiers.0.up_to`), and an empty cell is none. NDJSON has an object on each line, and
 * JSON is that or one list.
 *
 * @throws {SyntaxError} when the file is not of its form, or its header names something else
 */
export async function* fileRows(
  pieces: AsyncIterable<string>,
  type: FileType,
  fields: ReadonlySet<string>,
): AsyncGenerator<readonly FileRow[]> {
  let reader: RowReader | null = type === 'CSV' ? new CsvRows(fields) : null;
  let isFirst = true;
  for await (const piece of pieces) {
    const text = isFirst ? piece.replace(/^\uFEFF/, '') : piece;
    isFirst = false;
    reader ??= type === 'JSON' && /^\s*\[/.test(text) ? new JsonListReader() : new LineReader();
    for (let from = 0; from < text.length; from += charactersAtOnce) {
      yield* together(reader.rows(text.slice(from, from + charactersAtOnce)));
    }
  }
  if (reader) yield* together(reader.end());
}

/** The rows in one list; where reading breaks off, first those that stand before. */
function* together(rows: Iterable<FileRow>): Generator<readonly FileRow[]> {
  const read: FileRow[] = [];
  let failure: { readonly error: unknown } | null = null;
  try {
    for (const row of rows) read.push(row);
  } catch (error) {
    failure = { error };
  }
  if (read.length > 0) yield read;
  if (failure) throw failure.error;
}

class CsvRows implements RowReader {
  readonly #reader = new CsvReader();
  readonly #fields: ReadonlySet<string>;
  #header: readonly Column[] | null = null;

  constructor(fields: ReadonlySet<string>) {
    this.#fields = fields;
  }

  *rows(part: string): Generator<FileRow> {
    for (const row of this.#reader.rows(part)) yield* this.#take(row);
  }

  *end(): Generator<FileRow> {
    for (const row of this.#reader.end()) yield* this.#take(row);
  }

  *#take({ line, cells }: { readonly line: number; readonly cells: readonly string[] }) {
    if (this.#header) yield csvRow(this.#header, line, cells);
    else this.#header = headerOf(cells, this.#fields);
  }
}

/** A column by the keys that lead to its value. */
type Column = readonly string[];

const isIndex = (key: string | undefined): boolean => key !== undefined && /^\d{1,3}$/.test(key);
/** Names that lead into the prototype of an object are no fields. */
const isForbidden = (key: string): boolean =>
  key === '' || key === '__proto__' || key === 'constructor' || key === 'prototype';

function headerOf(names: readonly string[], fields: ReadonlySet<string>): readonly Column[] {
  const columns = names.map((name) => columnOf(name.trim()));
  const unknown = columns.findIndex((keys) => keys.some(isForbidden) || !fields.has(keys[0] ?? ''));
  if (unknown >= 0) {
    const known = [...fields]
      .map((name) => (flat.includes(name) ? `${name}.NAME` : name))
      .join(', ');
    throw new SyntaxError(
      `line 1: there is no column ${JSON.stringify(names[unknown])}; it may be ${known}`,
    );
  }
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new SyntaxError(`line 1: the column ${twice} is there twice`);
  return columns;
}

/** Names of properties and of metadata may have dots themselves. */
const flat: readonly string[] = ['properties', 'metadata'];

function columnOf(name: string): Column {
  const [first = '', ...rest] = name.split('.');
  return flat.includes(first) && rest.length > 0 ? [first, rest.join('.')] : [first, ...rest];
}

function csvRow(header: readonly Column[], line: number, cells: readonly string[]): FileRow {
  if (cells.length !== header.length) {
    const error = `has ${cells.length} cells where the header has ${header.length}`;
    return { kind: 'fault', line, error, row: cells };
  }
  const row: Record<string, unknown> = {};
  for (const [index, column] of header.entries()) {
    const cell = cells[index] ?? '';
    if (cell !== '') put(row, column, cell);
  }
  return { kind: 'row', line, text: JSON.stringify(row), row };
}

type Holder = Record<string, unknown>;

/** Puts a value at a place, and makes the objects and lists on the way there. */
function put(row: Holder, column: Column, value: unknown): void {
  let holder = row;
  for (const [depth, key] of column.slice(0, -1).entries()) {
    const inner = holder[key];
    if (typeof inner !== 'object' || inner === null) {
      holder[key] = isIndex(column[depth + 1]) ? [] : {};
    }
    holder = holder[key] as Holder;
  }
  holder[column.at(-1) ?? ''] = value;
}

/**
 * The row with some of its texts as the numbers and truth values that they stand for: in CSV everything is text. Null where none
 * of them stands for one.
 */
export function retyped(
  row: Readonly<Record<string, unknown>>,
  pointers: readonly string[],
): string | null {
  const copy = structuredClone(row) as Holder;
  let isChanged = false;
  for (const pointer of pointers) {
    const keys = pointer.slice(1).split('/');
    const last = keys.pop() ?? '';
    const holder = keys.reduce<unknown>(
      (value, key) => (value as Holder | undefined)?.[key],
      copy,
    ) as Holder | undefined;
    const text = typeof holder === 'object' && holder !== null ? holder[last] : undefined;
    if (typeof text !== 'string' || !holder) continue;
    if (!/^(true|false|-?\d{1,15}(\.\d{1,15})?)$/.test(text)) continue;
    holder[last] = JSON.parse(text.replace(/^(-?)0+(?=\d)/, '$1'));
    isChanged = true;
  }
  return isChanged ? JSON.stringify(copy) : null;
}
