export * from './config.ts';
export * from './health.ts';
export * from './log.ts';
export * from './metrics.ts';
export * from './shutdown.ts';
export * from './started.ts';
export {
  clockSkewDefault,
  clockSkewSeconds,
  type TrustedTime,
  watchClock,
} from './trusted-time.ts';
export * from './variables.ts';
