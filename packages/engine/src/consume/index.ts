export * from './due-work.ts';
export * from './live-fold.ts';
export * from './log-feed.ts';
export * from './reactions.ts';
export * from './run-forever.ts';
