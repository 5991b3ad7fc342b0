import type { Cell, ColumnKind, ExportColumn } from '../rows.ts';
import type { RowFormat } from './row-format.ts';

const nothing = new Uint8Array();

/** The JSON of a cell. Decimals stay texts: a number would not be what was written. */
const jsonOf = (kind: ColumnKind, cell: Cell): string =>
  kind === 'json' && typeof cell === 'string' ? cell : JSON.stringify(cell);

/** One JSON object on each line. */
export function ndjsonFormat(columns: readonly ExportColumn[]): RowFormat {
  const members = columns.map(({ name, kind }, place) => ({
    kind,
    start: `${place === 0 ? '{' : ','}${JSON.stringify(name)}:`,
  }));
  return {
    start: () => nothing,
    rows: (rows) => {
      let text = '';
      for (const row of rows) {
        members.forEach(({ kind, start }, place) => {
          text += start + jsonOf(kind, row[place] ?? null);
        });
        text += '}\n';
      }
      return Buffer.from(text);
    },
    end: () => nothing,
  };
}
