import type { AnyFactTables } from './intake.ts';
import type { WorkContext } from './work-context.ts';

/**
 * Work that follows from facts, such as a look at what they add up to. Whoever fills the tables marks the records that
 * new facts concern, in the transaction that counts the facts; the work is run for each mark afterwards, and takes the
 * mark away unless there is a newer one. So recording waits for nothing, and no mark is lost. Work is run at
 * least once for a mark, and once for many: it must be a decision that does nothing when nothing is to be done.
 */
export interface FactWork {
  readonly name: string;
  readonly tables: AnyFactTables;
  /**
   * One of the tables, with the columns `id`, `tenant_id` and `environment_id` of a record, `marked_at`, the time of its
   * mark or null, and `causes`, a number that rises whenever there is a reason for a mark.
   */
  readonly marks: string;
  readonly run: (context: WorkContext, id: string) => Promise<unknown>;
}
