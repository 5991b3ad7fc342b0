export type { StopReason } from './apply-batch.ts';
export { ForeignLog } from './log-identity.ts';
export { PositionClock, type ProjectedPosition } from './projected-position.ts';
export { type Projector, type ProjectorOptions, startProjector } from './projector.ts';
export type { ProjectorState, ProjectorStatus, TableStatus } from './projector-status.ts';
export {
  discardReadModel,
  ProjectorActive,
  RebuildFailed,
  rebuildReadModel,
} from './rebuild.ts';
