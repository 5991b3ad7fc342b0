export { natsBroker } from './nats-broker.ts';
export { connectNats, type Nats, type NatsOptions, type NatsStatus } from './nats-connection.ts';
export {
  type FollowOptions,
  followPublicStream,
  type ReaderPlace,
  StreamMismatch,
} from './nats-reader.ts';
export { ensureStreams, publicStream, type StreamOptions, StreamRefused } from './nats-streams.ts';
