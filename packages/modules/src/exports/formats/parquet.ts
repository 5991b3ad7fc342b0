import {
  ByteWriter,
  type ColumnSource,
  ParquetWriter,
  schemaFromColumnData,
} from 'hyparquet-writer';
import type { Cell, ColumnKind, ExportColumn, ExportRow } from '../rows.ts';
import type { RowFormat } from './row-format.ts';

/** The rows that stand together, and are in memory until there are so many, or so many characters. */
const groupRows = 10_000;
const groupCharacters = 8_000_000;

/** Decimals are texts: no type of Parquet has as many digits as they may have. */
const types: Readonly<Record<ColumnKind, NonNullable<ColumnSource['type']>>> = {
  text: 'STRING',
  decimal: 'STRING',
  json: 'STRING',
  integer: 'INT64',
  boolean: 'BOOLEAN',
  instant: 'TIMESTAMP',
};

function parquetValue(kind: ColumnKind, cell: Cell) {
  if (cell === null) return undefined;
  switch (kind) {
    case 'integer':
      return BigInt(cell);
    case 'instant':
      return new Date(String(cell));
    case 'text':
    case 'decimal':
    case 'json':
    case 'boolean':
      return cell;
    default:
      return kind satisfies never;
  }
}

function charactersIn(row: ExportRow): number {
  let characters = 0;
  for (const cell of row) if (typeof cell === 'string') characters += cell.length;
  return characters;
}

const sourcesOf = (columns: readonly ExportColumn[], rows: readonly ExportRow[]): ColumnSource[] =>
  columns.map(({ name, kind }, place) => ({
    name,
    type: types[kind],
    nullable: true,
    offsetIndex: false,
    data: rows.map((row) => parquetValue(kind, row[place] ?? null)),
  }));

/** Apache Parquet, in groups of rows, each compressed by Snappy. */
export function parquetFormat(columns: readonly ExportColumn[]): RowFormat {
  const bytes = new ByteWriter();
  const schema = schemaFromColumnData({ columnData: sourcesOf(columns, []) });
  const writer = new ParquetWriter({ writer: bytes, schema, createdBy: 'counterfoil' });
  let waiting: ExportRow[] = [];
  let waitingCharacters = 0;
  /** Takes what was written out of the writer, which goes on counting. */
  const taken = (): Uint8Array => {
    const written = bytes.getBytes().slice();
    bytes.index = 0;
    return written;
  };
  const writeGroup = (): void => {
    if (waiting.length === 0) return;
    const columnData = sourcesOf(columns, waiting);
    // It promises something only where what it writes to does.
    void writer.write({ columnData, rowGroupSize: groupRows });
    waiting = [];
    waitingCharacters = 0;
  };
  return {
    start: taken,
    rows: (rows) => {
      for (const row of rows) {
        waiting.push(row);
        waitingCharacters += charactersIn(row);
        if (waiting.length === groupRows || waitingCharacters >= groupCharacters) writeGroup();
      }
      return taken();
    },
    end: () => {
      writeGroup();
      void writer.finish();
      return taken();
    },
  };
}
