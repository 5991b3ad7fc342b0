export * from './given.ts';
export * from './memory-store.ts';
