export type { StopReason } from './apply-batch.ts';
export { type Connection, connect, type Database, transaction } from './database.ts';
export { ForeignLog } from './log-identity.ts';
export { type Migration, type Migrations, type MigrationTransaction, migrate } from './migrate.ts';
export { PositionClock, type ProjectedPosition } from './projected-position.ts';
export { type Projector, type ProjectorOptions, startProjector } from './projector.ts';
export type { ProjectorState, ProjectorStatus, TableStatus } from './projector-status.ts';
export { createReadModel, type ReadModel } from './read-model.ts';
export type { ReaderOptions } from './reader.ts';
export { ReaderRoleMissing } from './reader-role.ts';
export {
  discardReadModel,
  ProjectorActive,
  RebuildFailed,
  rebuildReadModel,
} from './rebuild.ts';
export type { Difference } from './row-difference.ts';
export { type LogWitness, type VerifyReport, verifyReadModel } from './verify.ts';
