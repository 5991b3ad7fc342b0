import { type Module, module } from '@counterfoil/engine/define';
import { createDirectory, type Directory } from '../tenancy/index.ts';
import { cloneRoutes } from './routes.ts';

export interface EnvironmentClonesOptions {
  /** The directory that limits are counted in; left out in processes that serve no requests. */
  readonly directory?: Directory | undefined;
}

/** The copies of a catalogue from one environment of a tenant to another. */
export const environmentClones = ({ directory }: EnvironmentClonesOptions): Module =>
  module({
    name: 'environment-clones',
    aggregates: [],
    tables: [],
    routes: cloneRoutes(directory ?? createDirectory()),
    publicEvents: [],
  });

/** The routes with their exact types, for the typed client. */
export type EnvironmentCloneRoutes = ReturnType<typeof cloneRoutes>;
