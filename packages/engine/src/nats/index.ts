export { natsBroker } from './nats-broker.ts';
export { connectNats, type Nats, type NatsOptions } from './nats-connection.ts';
export { type FollowOptions, followPublicStream, StreamMismatch } from './nats-reader.ts';
export { ensureStreams, type StreamOptions } from './nats-streams.ts';
