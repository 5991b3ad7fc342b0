import type { ExportFormat } from '../../scheduled-tasks/index.ts';
import type { ExportColumn } from '../rows.ts';
import { csvFormat } from './csv.ts';
import { ndjsonFormat } from './ndjson.ts';
import { parquetFormat } from './parquet.ts';
import type { RowFormat } from './row-format.ts';

/** The ending of the name of a file, and the media type of what is in it. */
export interface FileKind {
  readonly ending: string;
  readonly mediaType: string;
}

export const fileKinds: Readonly<Record<ExportFormat, FileKind>> = {
  csv: { ending: 'csv', mediaType: 'text/csv; charset=utf-8' },
  ndjson: { ending: 'ndjson', mediaType: 'application/x-ndjson' },
  parquet: { ending: 'parquet', mediaType: 'application/vnd.apache.parquet' },
};

/** Begins a file. */
export function formatOf(format: ExportFormat, columns: readonly ExportColumn[]): RowFormat {
  switch (format) {
    case 'csv':
      return csvFormat(columns);
    case 'ndjson':
      return ndjsonFormat(columns);
    case 'parquet':
      return parquetFormat(columns);
    default:
      return format satisfies never;
  }
}
