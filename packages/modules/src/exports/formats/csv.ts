import type { Cell, ColumnKind, ExportColumn, ExportRow } from '../rows.ts';
import type { RowFormat } from './row-format.ts';

/** A spreadsheet takes what begins so for a formula, and carries it out (D81). */
const formulaStart = /^[=+\-@\t\r]/;
const number = /^[+-]?\d+(\.\d+)?$/;
const special = /[",\r\n]/;

const guarded = (text: string): string =>
  formulaStart.test(text) && !number.test(text) ? `'${text}` : text;

const quoted = (text: string): string =>
  special.test(text) ? `"${text.replaceAll('"', '""')}"` : text;

/** Most texts are written as they are: one look tells. */
const isPlain = (text: string): boolean => !unusual.test(text);
const unusual = /^[=+\-@\t\r]|[",\r\n]/;

/** A cell of a CSV file (RFC 4180). */
export function csvCell(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell !== 'string') return String(cell);
  return isPlain(cell) ? cell : quoted(guarded(cell));
}

/** Kinds whose texts have nothing that would have to be quoted, or that a spreadsheet would take for a formula. */
const plainKinds: readonly ColumnKind[] = ['decimal', 'integer', 'boolean', 'instant'];

/** Makes the writer of a row as a line. */
function lineWriter(columns: readonly ExportColumn[]): (cells: ExportRow) => string {
  const isPlainAt = columns.map(({ kind }) => plainKinds.includes(kind));
  return (cells) => {
    let line = '';
    for (let place = 0; place < cells.length; place += 1) {
      const cell = cells[place] ?? null;
      if (place > 0) line += ',';
      if (cell !== null) line += isPlainAt[place] ? cell : csvCell(cell);
    }
    return `${line}\r\n`;
  };
}

const headerOf = (columns: readonly ExportColumn[]): string =>
  `${columns.map(({ name }) => csvCell(name)).join(',')}\r\n`;

const nothing = new Uint8Array();

/** CSV in UTF-8, with a header also where there are no rows (D81). */
export function csvFormat(columns: readonly ExportColumn[]): RowFormat {
  const lineOf = lineWriter(columns);
  return {
    start: () => Buffer.from(headerOf(columns)),
    rows: (rows) => {
      let text = '';
      for (const row of rows) text += lineOf(row);
      return Buffer.from(text);
    },
    end: () => nothing,
  };
}
