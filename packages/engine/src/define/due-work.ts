import type { AnyProjection, ColumnTypes, Projection } from './projection.ts';
import type { WorkContext } from './work-context.ts';

/**
 * Work that becomes due by time alone. The time stands in a column of a read table, which events
 * fill and the events that the work causes empty, so there is no queue that could disagree with the
 * log. The work must be a decision that does nothing when nothing is due.
 */
export interface DueWork {
  readonly name: string;
  readonly table: AnyProjection;
  /** A timestamptz column; null where nothing will become due. */
  readonly column: string;
  readonly run: (context: WorkContext, id: string) => Promise<unknown>;
}

/** The columns that hold instants. */
type InstantColumn<Columns extends ColumnTypes> = {
  readonly [Name in keyof Columns]: Columns[Name] extends 'timestamptz' ? Name : never;
}[keyof Columns] &
  string;

/** Declares due work. The column must be one of its table that holds instants. */
export const dueWork = <Row, Resource, Columns extends ColumnTypes>(
  work: Omit<DueWork, 'table' | 'column'> & {
    readonly table: Projection<string, Row, Resource, Columns>;
    readonly column: InstantColumn<NoInfer<Columns>>;
  },
): DueWork => work;
