import type { AskingContext, StreamedReads } from '@counterfoil/engine/define';
import type { ExportRun, JobConfig } from '../../scheduled-tasks/index.ts';
import type { ChargesOf } from '../../usage/index.ts';
import type { ExportColumn, ExportRow, SummedColumn } from '../rows.ts';

/** Everything that rows are made of. */
export interface ExportReads {
  readonly run: ExportRun;
  readonly reads: StreamedReads;
  readonly context: AskingContext;
  /** The costs of usage by the customers' subscriptions. */
  readonly chargesOf: ChargesOf;
}

/** The rows of one kind. */
export interface ExportSource {
  /** Its columns, and behind them those of metadata where the kind can have some. */
  columns(fields: JobConfig['export_metadata_fields']): readonly ExportColumn[];
  summed(columns: readonly ExportColumn[]): readonly SummedColumn[];
  /** The names of the read tables that it reads: all of them have to show the window. */
  readonly tables: readonly string[];
  readonly needsUsage: boolean;
  /** Some rows at a time, always in the same order. */
  rows(reads: ExportReads): AsyncGenerator<readonly ExportRow[], void, undefined>;
  /** Counts the rows that came after the window of their instant; null where a late row is in the next window. */
  late(reads: ExportReads): Promise<number | null>;
}
