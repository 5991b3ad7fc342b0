import { eventFields, fileRows, withEventId } from '@counterfoil/modules';

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
  const type = format === 'csv' ? 'CSV' : 'NDJSON';
  for await (const rows of fileRows(pieces, type, eventFields)) {
    for (const row of rows) {
      if (row.kind === 'fault') yield row;
      else {
        const text = withEventId(row.text, row.row, idOf(row.line));
        yield { kind: 'event', line: row.line, text, row: row.row };
      }
    }
  }
}
