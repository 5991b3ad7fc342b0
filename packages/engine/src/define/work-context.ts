import type { CommandContext, Place } from './context.ts';
import type { FactReads } from './intake.ts';

/** Everything that work may use which the service does by itself, when a time comes or facts do. */
export interface WorkContext extends Omit<CommandContext, 'read'> {
  /** The tenant and the environment of the record that the work is about. */
  readonly place: Place;
  /** Reads of facts, as far as their tables are. */
  readonly facts: FactReads;
  /**
   * Reads of facts that show everything which is in the log by now. The first of them throws 503 while their tables
   * are further behind than it waits.
   */
  factsByNow(): Promise<FactReads>;
}
