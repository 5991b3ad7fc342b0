export { type Advances, startAdvances } from './advances.ts';
export { startCacheFollower } from './cache-follower.ts';
export { dueRunner } from './due-run.ts';
export { type DueWorkLoop, startDueWork } from './due-work.ts';
export { gathered } from './gathering.ts';
export * from './live-fold.ts';
export * from './log-feed.ts';
export * from './reactions.ts';
export * from './run-forever.ts';
