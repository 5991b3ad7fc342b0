import type { FactSelect, FactTables } from './intake.ts';
import type { AnyProjection } from './projection.ts';
import type { Selection, Selects } from './tables.ts';

/** Rows, some at a time. */
export type Portions<Row> = AsyncGenerator<readonly Row[], void, undefined>;

/**
 * Reads of whole tables, for work that goes through more rows than memory should hold. All of them see one state of the
 * tables, of one tenant and environment.
 */
export interface StreamedReads {
  /** The rows that a statement selects from read tables; their builder is that of `query` of a reader. */
  rows<const Tables extends AnyProjection, Row>(
    tables: readonly Tables[],
    select: (from: Selects<Tables>) => Selection<Row>,
  ): Portions<Row>;
  /** The rows that a statement selects from tables of facts. */
  facts<Tables extends object, Row>(
    tables: FactTables<Tables>,
    select: FactSelect<Tables, Row>,
  ): Portions<Row>;
}
