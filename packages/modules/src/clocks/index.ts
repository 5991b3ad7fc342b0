import { type Module, module, systemClock } from '@counterfoil/engine/define';
import { createClocks, type FollowedClocks } from './clocks.ts';
import { clockRoutes } from './routes.ts';
import { testClock } from './test-clock.ts';

export { createClocks, type FollowedClocks } from './clocks.ts';
export { testClock } from './test-clock.ts';

export interface ClocksOptions {
  /** The clocks that the process goes by; left out in processes that serve no requests. */
  readonly clocks?: FollowedClocks | undefined;
}

/** The clock of each environment: the system's, or a test clock. */
export const environmentClocks = ({ clocks }: ClocksOptions): Module =>
  module({
    name: 'clocks',
    aggregates: [testClock],
    tables: [],
    routes: clockRoutes(clocks ?? createClocks(systemClock)),
    publicEvents: [],
  });

/** The routes with their exact types, for the typed client. */
export type ClockRoutes = ReturnType<typeof clockRoutes>;
