export { postgresCheckpoint } from './checkpoint-store.ts';
export type { RelayStatus } from './progress.ts';
export type { PublicMessage } from './public-message.ts';
export { type Relay, type RelayOptions, startRelay } from './relay.ts';
export type { CheckpointStore, Projected } from './relay-session.ts';
export type { Checkpoint } from './resume.ts';
