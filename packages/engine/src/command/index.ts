export * from './claims.ts';
export * from './command.ts';
export * from './recent-writes.ts';
export * from './request-mark.ts';
export * from './request-run.ts';
export * from './reservation.ts';
export * from './stream-writer.ts';
export * from './streams.ts';
