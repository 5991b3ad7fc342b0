/** The projector's work with signed checkpoints, for those who do it by hand. */
export {
  type CheckpointCheck,
  type CheckpointReport,
  checkpointsOf,
  createCheckpointCheck,
} from './checkpoint-check.ts';
export { checkpointKeyOf, takeCheckpoints } from './take-checkpoints.ts';
