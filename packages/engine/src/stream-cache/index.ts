export * from './code-fingerprint.ts';
export * from './snapshot-folder.ts';
