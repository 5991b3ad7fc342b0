import type { AnyAggregate } from '@counterfoil/kernel';
import type { Migration } from 'kysely';
import type { DueWork } from './due-work.ts';
import type { FactWork } from './fact-work.ts';
import type { AnyFactTables } from './intake.ts';
import type { AnyProjection } from './projection.ts';
import type { PublicEvents } from './public-event.ts';
import type { Reaction } from './reaction.ts';
import type { Routes } from './route.ts';

/** A slice of the business as the apps see it: values only. */
export interface Module {
  readonly name: string;
  readonly aggregates: readonly AnyAggregate[];
  readonly tables: readonly AnyProjection[];
  /** Tables of facts that are recorded without a decision. */
  readonly facts?: readonly AnyFactTables[];
  readonly routes: Routes;
  /** Operations that no path leads to: the service itself carries them out, in the name of a caller. */
  readonly operations?: Routes;
  readonly publicEvents: readonly PublicEvents[];
  /** Work that happens by itself when its time comes. */
  readonly dueWork?: readonly DueWork[];
  /** Work that follows from facts. */
  readonly factWork?: readonly FactWork[];
  /** The work that follows from events of its records, or of others. */
  readonly reactions?: readonly Reaction[];
  /**
   * Migrations of operational tables, which cannot be derived from the log; a name is
   * `<module>_<number>_<what>`. Read models have versions instead.
   */
  readonly migrations?: Readonly<Record<string, Migration>>;
}

/** The migrations of all modules together. */
export const migrationsOf = (modules: readonly Module[]): Readonly<Record<string, Migration>> =>
  Object.assign({}, ...modules.map(({ migrations }) => migrations ?? {}));

/** Gives a module its type. */
export const module = (definition: Module): Module => definition;
