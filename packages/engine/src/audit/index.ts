export * from './log-tree.ts';
export * from './merkle.ts';
export * from './signing-key.ts';
export * from './verify-chains.ts';
