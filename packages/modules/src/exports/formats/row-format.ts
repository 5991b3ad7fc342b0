import type { ExportRow } from '../rows.ts';

/** Writes rows in a format, some at a time: nothing of those before is kept. */
export interface RowFormat {
  /** The beginning of the file, before any row. */
  start(): Uint8Array;
  rows(rows: readonly ExportRow[]): Uint8Array;
  /** The end of the file, after the last row. */
  end(): Uint8Array;
}
