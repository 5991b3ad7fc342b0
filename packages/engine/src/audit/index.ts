export * from './head-tree.ts';
export * from './log-tree.ts';
export * from './merkle.ts';
export * from './signing-key.ts';
