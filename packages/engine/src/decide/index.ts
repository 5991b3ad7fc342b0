export * from './command.ts';
export * from './command-metrics.ts';
export * from './read-your-writes.ts';
export * from './request-fingerprint.ts';
export * from './request-run.ts';
export * from './stream-writer.ts';
export * from './streams.ts';
export * from './system-context.ts';
