export { natsBroker } from './nats-broker.ts';
export { connectNats, type Nats, type NatsOptions } from './nats-connection.ts';
export { type Message, type Messages, openMessages } from './nats-messages.ts';
export {
  type FollowOptions,
  followPublicStream,
  type PublicBatch,
  StreamMismatch,
} from './nats-reader.ts';
export { ensureStreams, type StreamOptions } from './nats-streams.ts';
