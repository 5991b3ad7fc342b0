import type { Cell, ExportColumn, ExportRow } from '../rows.ts';
import type { RowFormat } from './row-format.ts';

/** A spreadsheet takes what begins so for a formula, and carries it out (D81). */
const formulaStart = /^[=+\-@\t\r]/;
const number = /^[+-]?\d+(\.\d+)?$/;
const special = /[",\r\n]/;

const guarded = (text: string): string =>
  formulaStart.test(text) && !number.test(text) ? `'${text}` : text;

const quoted = (text: string): string =>
  special.test(text) ? `"${text.replaceAll('"', '""')}"` : text;

/** A cell of a CSV file (RFC 4180). */
export function csvCell(cell: Cell): string {
  if (cell === null) return '';
  return typeof cell === 'string' ? quoted(guarded(cell)) : String(cell);
}

const lineOf = (cells: ExportRow): string => {
  let line = '';
  for (let place = 0; place < cells.length; place += 1) {
    line += place === 0 ? csvCell(cells[place] ?? null) : `,${csvCell(cells[place] ?? null)}`;
  }
  return `${line}\r\n`;
};

const nothing = new Uint8Array();

/** CSV in UTF-8, with a header also where there are no rows (D81). */
export const csvFormat = (columns: readonly ExportColumn[]): RowFormat => ({
  start: () => Buffer.from(lineOf(columns.map(({ name }) => name))),
  rows: (rows) => {
    let text = '';
    for (const row of rows) text += lineOf(row);
    return Buffer.from(text);
  },
  end: () => nothing,
});
