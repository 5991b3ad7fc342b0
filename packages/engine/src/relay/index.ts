export { natsBroker } from './nats-broker.ts';
export { connectNats, type Nats, type NatsOptions, type NatsStatus } from './nats-connection.ts';
export {
  type FollowOptions,
  followPublicStream,
  type ReaderPlace,
  StreamMismatch,
} from './nats-reader.ts';
export { ensureStreams, publicStream, type StreamOptions, StreamRefused } from './nats-streams.ts';
export type { RelayStatus } from './progress.ts';
export type { PublicMessage } from './public-message.ts';
export { type Relay, type RelayOptions, startRelay } from './relay.ts';
export type { CheckpointStore, Projected } from './relay-session.ts';
export type { Checkpoint } from './resume.ts';
export { livePrefix, parsePublicSubject, publicSubject, publicSubjects } from './subject.ts';
