export { postgresCheckpoint } from './checkpoint-store.ts';
export { countPublicBytes, type PublicBytesCount } from './public-bytes.ts';
export type { PublicMessage } from './public-message.ts';
export { type Relay, startRelay } from './relay.ts';
export type { Checkpoint } from './resume.ts';
