export { connectEdge, type Edge } from './connect-edge.ts';
export { type EdgePlace, edgeConfiguration } from './edge-configuration.ts';
export { type EdgeKeys, edgeKeys } from './edge-keys.ts';
