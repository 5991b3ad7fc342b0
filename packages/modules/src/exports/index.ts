import { module } from '@counterfoil/engine/define';
import { type CheckOptions, checkRoutes } from './check.ts';

export { type AttemptOutcome, carryOutRun, type ExportTools } from './carry-out.ts';
export { exportColumnsOf } from './sources/index.ts';

/** Exports, as far as requests have to do with them: the storages that they go to are tried. */
export const exportsModule = (options: CheckOptions) =>
  module({
    name: 'exports',
    aggregates: [],
    tables: [],
    routes: checkRoutes(options),
    publicEvents: [],
  });

/** The routes with their exact types, for the typed client. */
export type ExportRoutes = ReturnType<typeof checkRoutes>;
