export { brokerDomain, systemCredentials } from './edge-claims.ts';
export { type EdgePlace, edgeConfiguration } from './edge-configuration.ts';
export { type EdgeKeys, edgeKeys } from './edge-keys.ts';
export { natsEdge } from './nats-edge.ts';
