export * from './config.ts';
export * from './health.ts';
export * from './log.ts';
export * from './metrics.ts';
export * from './shutdown.ts';
export * from './started.ts';
export { type TrustedTime, watchClock } from './trusted-time.ts';
