export * from './snapshot-folder.ts';
export * from './stream-cache.ts';
