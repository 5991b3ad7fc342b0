import { module } from '@counterfoil/engine/define';
import { ledgerCheckpoint } from './checkpoint.ts';
import { checkpointTable } from './projection.ts';
import { checkpointPublicEvents } from './publisher.ts';
import { checkpointRoutes } from './routes.ts';

export { type Checkpoint, type CheckpointKey, ledgerCheckpoint } from './checkpoint.ts';
export { type CheckpointTools, ledgerPrefix, takeCheckpoint } from './take.ts';

/** Signed checkpoints of the ledger, which prove its contents without trust in the service. */
export const checkpoints = module({
  name: 'checkpoints',
  aggregates: [ledgerCheckpoint],
  tables: [checkpointTable],
  routes: checkpointRoutes,
  publicEvents: [checkpointPublicEvents],
});

/** The routes with their exact types, for the typed client. */
export type CheckpointRoutes = typeof checkpointRoutes;
