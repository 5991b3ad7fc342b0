export { ForeignLog } from './log-identity.ts';
export { PositionClock, type ProjectedPosition } from './projected-position.ts';
export { type Projector, startProjector } from './projector.ts';
export {
  discardReadModel,
  ProjectorActive,
  RebuildFailed,
  RebuildStopped,
  rebuildReadModel,
} from './rebuild.ts';
