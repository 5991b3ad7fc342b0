import type { AnyAggregate } from '@counterfoil/kernel';
import type { Publisher } from './publication.ts';
import type { AnyReadTable } from './read-table.ts';
import type { Routes } from './route.ts';

/** One slice of the business, as the apps see it: values only. */
export interface Module {
  readonly name: string;
  readonly aggregates: readonly AnyAggregate[];
  readonly tables: readonly AnyReadTable[];
  readonly routes: Routes;
  readonly publishers: readonly Publisher[];
}

/** Gives a module its type. */
export const module = (definition: Module): Module => definition;
