import { CsvReader } from '@counterfoil/modules';

export type EventFormat = 'csv' | 'ndjson';

/** An event of a file as JSON text, with its line, or the fault that keeps it from being one. */
export type EventRow =
  | { readonly kind: 'event'; readonly line: number; readonly text: string; readonly row: unknown }
  | {
      readonly kind: 'fault';
      readonly line: number;
      readonly error: string;
      readonly row: unknown;
    };

/** Gives an id to an event that has none, by its line: the same at every reading of the file. */
type IdOf = (line: number) => string;

const fields = [
  'event_name',
  'external_customer_id',
  'customer_id',
  'event_id',
  'timestamp',
  'source',
] as const;
const propertyPrefix = 'properties.';

/**
 * The events of a file, in its order. CSV has a header with the names of fields, and `properties.NAME` for properties;
 * an empty cell is none. NDJSON has one event as JSON on each line, which goes out as it is, so that no number is rounded.
 *
 * @throws {SyntaxError} when the file is not CSV, or its header names something else
 */
export async function* eventRows(
  pieces: AsyncIterable<string>,
  format: EventFormat,
  idOf: IdOf,
): AsyncGenerator<EventRow> {
  yield* format === 'csv' ? fromCsv(pieces, idOf) : fromLines(pieces, idOf);
}

async function* fromCsv(pieces: AsyncIterable<string>, idOf: IdOf): AsyncGenerator<EventRow> {
  const reader = new CsvReader();
  let header: readonly string[] | null = null;
  for await (const rows of rowsIn(pieces, reader)) {
    for (const { line, cells } of rows) {
      if (header === null) header = checkedHeader(cells);
      else yield csvEvent(header, line, cells, idOf);
    }
  }
}

async function* rowsIn(pieces: AsyncIterable<string>, reader: CsvReader) {
  let isFirst = true;
  for await (const piece of pieces) {
    yield reader.rows(isFirst ? piece.replace(/^\uFEFF/, '') : piece);
    isFirst = false;
  }
  yield reader.end();
}

function checkedHeader(names: readonly string[]): readonly string[] {
  const isKnown = (name: string): boolean =>
    (fields as readonly string[]).includes(name) ||
    (name.startsWith(propertyPrefix) && name !== propertyPrefix);
  const unknown = names.find((name) => !isKnown(name));
  if (unknown !== undefined) {
    const known = [...fields, `${propertyPrefix}NAME`].join(', ');
    throw new SyntaxError(
      `line 1: there is no column ${JSON.stringify(unknown)}; it may be ${known}`,
    );
  }
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new SyntaxError(`line 1: the column ${twice} is there twice`);
  return names;
}

function csvEvent(
  header: readonly string[],
  line: number,
  cells: readonly string[],
  idOf: IdOf,
): EventRow {
  if (cells.length !== header.length) {
    const error = `has ${cells.length} cells where the header has ${header.length}`;
    return { kind: 'fault', line, error, row: cells };
  }
  const event: Record<string, unknown> = {};
  const properties: [string, string][] = [];
  for (const [index, name] of header.entries()) {
    const cell = cells[index] ?? '';
    if (cell === '') continue;
    if (name.startsWith(propertyPrefix)) properties.push([name.slice(propertyPrefix.length), cell]);
    else event[name] = cell;
  }
  event.event_id ??= idOf(line);
  if (properties.length > 0) event.properties = Object.fromEntries(properties);
  return { kind: 'event', line, text: JSON.stringify(event), row: event };
}

async function* fromLines(pieces: AsyncIterable<string>, idOf: IdOf): AsyncGenerator<EventRow> {
  let rest = '';
  let line = 0;
  for await (const piece of pieces) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    for (const text of lines) {
      line += 1;
      yield* lineEvent(line, text, idOf);
    }
  }
  yield* lineEvent(line + 1, rest, idOf);
}

function* lineEvent(line: number, given: string, idOf: IdOf): Generator<EventRow> {
  const text = given.replace(/^\uFEFF/, '').trim();
  if (text === '') return;
  const row = parsed(text);
  if (typeof row !== 'object' || row === null || Array.isArray(row)) {
    yield { kind: 'fault', line, error: 'is no JSON object', row: text };
    return;
  }
  yield { kind: 'event', line, text: withId(text, row, idOf(line)), row };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The text with an id at its end, where it has none: of two members with one name the last counts. */
function withId(text: string, row: object, id: string): string {
  const given: unknown = Reflect.get(row, 'event_id');
  if (given !== undefined && given !== null) return text;
  const comma = Object.keys(row).length > 0 ? ',' : '';
  return `${text.slice(0, -1)}${comma}"event_id":${JSON.stringify(id)}}`;
}
